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

# For what is compiled far longer than it runs: tests, the command line.
# GCC 12 at -O1 sees a string's end overrun where the source folder's path has
# just the length that a string keeps in itself.
set(FORETRACE_LIGHT_OPTIONS $<$<CONFIG:Release>:-O1>
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")

# The tool finds its libraries and data relative to itself: build/bin and
# build/lib/foretrace lie to each other as bin and lib/foretrace do after
# installation.
set(FORETRACE_LIBDIR lib/foretrace)
