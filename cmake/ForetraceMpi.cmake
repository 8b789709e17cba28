# Both MPIs at once. What must see mpi.h is built once for each, from one
# source. FORETRACE_MPIS lists the flavours that this machine has.
#
#   foretrace_mpi_target(<target> <mpi>)       makes a target see that MPI
#   foretrace_add_mpi_executable(<name> SOURCES ... [LIBS ...])
#       builds build/programs/<mpi>/<name> for each
#   foretrace_add_mpi_tool(<name> SOURCES ... [LIBS ...])
#       builds build/lib/foretrace/<name>-<mpi> for each, installed

set(FORETRACE_MPIS "")
foreach(mpi openmpi mpich)
  find_program(FORETRACE_MPICC_${mpi} mpicc.${mpi})
  find_program(FORETRACE_MPICXX_${mpi} mpicxx.${mpi})
  find_program(FORETRACE_MPIRUN_${mpi} mpirun.${mpi})
  if(FORETRACE_MPICC_${mpi} AND FORETRACE_MPIRUN_${mpi})
    list(APPEND FORETRACE_MPIS ${mpi})
  endif()
endforeach()
message(STATUS "MPI libraries: ${FORETRACE_MPIS}")

# Takes include directories and libraries out of a compiler wrapper's command
# line: both wrappers know -show.
function(foretrace_query_mpi mpi)
  execute_process(COMMAND ${FORETRACE_MPICC_${mpi}} -show OUTPUT_VARIABLE line
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${line}")
  set(includes "")
  set(links "")
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L.+|lmpi.*)$" AND NOT word STREQUAL "-lmpichfort")
      list(APPEND links ${word})
    endif()
  endforeach()
  add_library(foretrace_mpi_${mpi} INTERFACE)
  target_include_directories(foretrace_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_link_options(foretrace_mpi_${mpi} INTERFACE ${links})
  target_link_libraries(foretrace_mpi_${mpi} INTERFACE ${links})
  target_compile_definitions(foretrace_mpi_${mpi} INTERFACE
    OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1 FORETRACE_MPI_NAME="${mpi}")
  set_property(GLOBAL PROPERTY foretrace_mpi_includes_${mpi} "${includes}")
endfunction()
foreach(mpi IN LISTS FORETRACE_MPIS)
  foretrace_query_mpi(${mpi})
endforeach()

function(foretrace_add_mpi_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  foreach(mpi IN LISTS FORETRACE_MPIS)
    set(target ${name}_${mpi})
    add_executable(${target} ${arg_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                 ${PROJECT_SOURCE_DIR}/programs)
    target_link_libraries(${target} PRIVATE foretrace_mpi_${mpi} ${arg_LIBS})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/programs/${mpi})
  endforeach()
endfunction()

function(foretrace_add_mpi_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  foreach(mpi IN LISTS FORETRACE_MPIS)
    set(target ${name}-${mpi})
    add_executable(${target} ${arg_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE foretrace_mpi_${mpi} ${arg_LIBS})
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${FORETRACE_LIBDIR})
    install(TARGETS ${target} RUNTIME DESTINATION ${FORETRACE_LIBDIR})
  endforeach()
endfunction()
