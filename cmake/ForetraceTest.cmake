#   foretrace_add_test(<name> SOURCES ... [LIBS ...] [ALONE ...])    a GoogleTest program, one ctest;
#       ALONE: sources that cannot be compiled together with others
#   foretrace_add_bench(<name> SOURCES ... [LIBS ...])   a Google Benchmark program
#   foretrace_labels(<variable> <label> <mpi> <guard>)   a test's labels, if there is one of it for
#       each MPI: <label>; and `release`, unless the test under <mpi> guards every change. <guard>
#       says which do: that under openmpi, that under mpich, or both. Where there is one MPI alone,
#       it guards.

function(foretrace_labels variable label mpi guard)
  list(LENGTH FORETRACE_MPIS mpis)
  if(mpis GREATER 1 AND NOT guard STREQUAL both AND NOT guard STREQUAL mpi)
    list(APPEND label release)
  endif()
  set(${variable} "${label}" PARENT_SCOPE)
endfunction()

function(foretrace_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS;ALONE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FORETRACE_LIGHT_OPTIONS})
  foretrace_compile_together(${name} ALONE ${arg_ALONE})
  target_precompile_headers(${name} REUSE_FROM foretrace_test_headers)
  target_compile_definitions(${name} PRIVATE
    FORETRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FORETRACE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

function(foretrace_add_bench name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
