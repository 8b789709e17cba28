# Compiler settings that hold for every target, and the build's own switches.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

option(FORETRACE_TESTS "Build the tests" ON)
option(FORETRACE_BENCH "Build the benchmarks" OFF)
# Whoever builds the target foretrace alone gets live runs as well, but for the demonstration.
option(FORETRACE_LIVE_WITH_TOOL "Building the tool builds its MPI library" ON)
option(FORETRACE_TOGETHER "Compile the sources of a part several at once" ON)
option(FORETRACE_WERROR "Treat warnings as errors" OFF)
set(FORETRACE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_compile_options(-Wall -Wextra)
# GCC 12 sees overlaps in string concatenations that cannot happen.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(FORETRACE_WERROR)
  add_compile_options(-Werror)
endif()
if(FORETRACE_SANITIZE)
  add_compile_options(-fsanitize=${FORETRACE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FORETRACE_SANITIZE})
endif()

# A tenth of GCC's time goes into collecting its own garbage, unless that may be as much as this, in KiB.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# For what is compiled far longer than it runs: what reads, draws and tells, not what runs for each event.
# GCC 12 at -O1 sees a string's end overrun where the source folder's path has
# just the length that a string keeps in itself.
set(FORETRACE_LIGHT_OPTIONS $<$<CONFIG:Release>:-O1>
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")

# For the libraries that are loaded into programs: only what they say so is seen from outside.
set(FORETRACE_HIDDEN_OPTIONS -fvisibility=hidden -fvisibility-inlines-hidden -ftls-model=initial-exec)

#   foretrace_compile_together(<target> [BY_FOLDER] [BATCH <number>] [ALONE <source>...])
# compiles the target's sources in batches of 8 or that number, those of a folder if BY_FOLDER: the headers that they
# share take longer than they do. So no two sources of a target (a folder) may give a name of their own to
# different things, and a type whose members are of such a source's own types is compiled ALONE, since GCC
# takes it for one that others see. -DFORETRACE_TOGETHER=OFF (the preset debug) compiles each by itself, which shows that
# it includes all that it uses.
function(foretrace_compile_together target)
  cmake_parse_arguments(arg "BY_FOLDER" "BATCH" "ALONE" ${ARGN})
  if(NOT FORETRACE_TOGETHER)
    return()
  endif()
  if(NOT arg_BATCH)
    set(arg_BATCH 8)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
  if(arg_ALONE)
    set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(arg_BY_FOLDER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      if(NOT IS_ABSOLUTE ${source})
        get_filename_component(folder ${source} DIRECTORY)
        string(MAKE_C_IDENTIFIER "${folder}" folder)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}")
      endif()
    endforeach()
  endif()
endfunction()

# The tool finds its libraries and data relative to itself: build/bin and
# build/lib/foretrace lie to each other as bin and lib/foretrace do after
# installation.
set(FORETRACE_LIBDIR lib/foretrace)
