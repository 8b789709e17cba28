#   foretrace_add_test(<name> SOURCES ... [LIBS ...])    a GoogleTest program, one ctest
#   foretrace_add_bench(<name> SOURCES ... [LIBS ...])   a Google Benchmark program

# Tests are compiled far longer than they run.
# GCC 12 at -O1 sees a string's end overrun where the source folder's path has
# just the length that a string keeps in itself.
set(FORETRACE_TEST_OPTIONS $<$<CONFIG:Release>:-O1>
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")

function(foretrace_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FORETRACE_TEST_OPTIONS})
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
