# sawbill_room(name DEPS a b ...): src/<name>/*.cc becomes the library sawbill_<name>; every src/<name>/*_test.cc beside it
# becomes part of <name>_test, which ctest runs case by case. Files are found by glob, so a new file needs no edit here.
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
if(SAWBILL_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(sawbill_flags INTERFACE)
# -iquote, not -I: src/sys/file.h must not stand in for the system's <sys/file.h>.
target_compile_options(sawbill_flags INTERFACE -iquote ${CMAKE_SOURCE_DIR}/src)
target_compile_options(sawbill_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(sawbill_flags INTERFACE -Wno-restrict)  # g++ 12 reports it falsely on "x" + std::string at -O2
endif()
if(SAWBILL_WERROR)
  target_compile_options(sawbill_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(sawbill_flags INTERFACE -Wno-deprecated-declarations)  # libstdc++ 12's std::stable_sort uses one
endif()
target_compile_definitions(sawbill_flags INTERFACE SAWBILL_VERSION="${SAWBILL_VERSION}")

function(sawbill_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(deps ${ROOM_DEPS})
  list(TRANSFORM deps PREPEND sawbill_)
  if(sources)
    add_library(sawbill_${name} STATIC ${sources})
    target_link_libraries(sawbill_${name} PUBLIC sawbill_flags ${deps} ${ROOM_LIBS})
  else()
    add_library(sawbill_${name} INTERFACE)
    target_link_libraries(sawbill_${name} INTERFACE sawbill_flags ${deps} ${ROOM_LIBS})
  endif()
  if(SAWBILL_TESTS AND tests)
    sawbill_tests(${name} ${tests})
  endif()
endfunction()

# sawbill_tests(name sources): <name>_test, each case a test of ctest. What is tested keeps its optimisation; the tests
# themselves compile in half the time without (asan's quirks_test.cc: 5.2 s instead of 10.2 s).
function(sawbill_tests name)
  add_executable(${name}_test ${ARGN})
  target_link_libraries(${name}_test PRIVATE sawbill_${name} GTest::gmock GTest::gtest_main rapidcheck Threads::Threads)
  target_compile_definitions(${name}_test PRIVATE SAWBILL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(${name}_test PRIVATE -O0)
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}. PROPERTIES TIMEOUT 120)
endfunction()

# sawbill_app(name): src/<name>/*.cc becomes the program ${CMAKE_BINARY_DIR}/sawbill. All but main.cc stand in a library of
# their own, so that <name>_test runs whole commands without starting a process.
function(sawbill_app name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(sawbill_${name} STATIC ${sources})
  target_link_libraries(sawbill_${name} PUBLIC sawbill_flags sawbill_report sawbill_advise sawbill_analysis sawbill_money
                        sawbill_rules sawbill_ingest sawbill_collect sawbill_gpu sawbill_host sawbill_store sawbill_sys sawbill_model sawbill_base sawbill_player Threads::Threads
                        ${CMAKE_DL_LIBS})
  add_executable(sawbill ${CMAKE_SOURCE_DIR}/src/${name}/main.cc)
  target_link_libraries(sawbill PRIVATE sawbill_${name})
  set_target_properties(sawbill PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  if(SAWBILL_TESTS AND tests)
    sawbill_tests(${name} ${tests})
  endif()
endfunction()
