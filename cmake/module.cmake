# SPDX-License-Identifier: Apache-2.0
# A module's build file is one line: every .cc is the library, every *_test.cc its test.

# Modules that static programs link: built a second time without sanitizers, as cordon_X_plain.
set(CORDON_STATIC_MODULES base record frame hash os recorder source launcher relay files guest audit broker notary)

# cordon_unity(TARGET): with CORDON_UNITY, the target's files are compiled eight at a time. Not for files of tables
# (src/os/filter, tests/containment/probe): each has its kRows, and rightly.
function(cordon_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CORDON_UNITY})
endfunction()

# cordon_module(NAME MODULE... [LIBRARIES LIBRARY...] [TEST_LIBRARIES LIBRARY...] [EXCEPT DIRECTORY] [HEADERS TARGET])
# EXCEPT: a directory with a build file of its own. HEADERS: whose precompiled headers the library uses, where not the
# usual ones.
function(cordon_module name)
  cmake_parse_arguments(arg "" "EXCEPT;HEADERS" "LIBRARIES;TEST_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXCEPT}/")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  add_library(cordon_${name} STATIC ${sources})
  set(headers cordon)
  if(name STREQUAL async OR async IN_LIST arg_UNPARSED_ARGUMENTS)
    set(headers cordon_asio)
  endif()
  if(NOT arg_HEADERS)
    set(arg_HEADERS ${headers}_pch)
  endif()
  target_precompile_headers(cordon_${name} REUSE_FROM ${arg_HEADERS})
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND cordon_ OUTPUT_VARIABLE uses)
  target_link_libraries(cordon_${name} PUBLIC cordon_checked ${uses} ${arg_LIBRARIES})
  cordon_unity(cordon_${name})

  if(name IN_LIST CORDON_STATIC_MODULES AND CORDON_LEAN)
    add_library(cordon_${name}_plain ALIAS cordon_${name})  # neither sanitizers nor a shared fmt: the same
    # Of it a static program takes the files that it needs, and no others.
    set_target_properties(cordon_${name} PROPERTIES UNITY_BUILD OFF)
  elseif(name IN_LIST CORDON_STATIC_MODULES)
    add_library(cordon_${name}_plain STATIC ${sources})
    list(TRANSFORM uses APPEND _plain)
    target_link_libraries(cordon_${name}_plain PUBLIC cordon_plain ${uses} ${arg_LIBRARIES})
    target_precompile_headers(cordon_${name}_plain REUSE_FROM ${CORDON_PLAIN_PCH})
    cordon_unity(cordon_${name}_plain)
  endif()

  if(tests AND CORDON_TESTS)
    add_executable(${name}_test ${tests})
    target_precompile_headers(${name}_test REUSE_FROM ${headers}_test_pch)
    cordon_unity(${name}_test)
    target_link_libraries(${name}_test PRIVATE cordon_${name} ${arg_TEST_LIBRARIES} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE CORDON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    # All of a module in one process: each of its own takes a sanitizer longer to begin than most tests take.
    add_test(NAME ${name}_test COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${name}_test PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()

# cordon_static_program(NAME SOURCES... USES MODULE...): linked static, without sanitizers, in every preset.
function(cordon_static_program name)
  cmake_parse_arguments(arg "" "" "USES" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM ${CORDON_PLAIN_PCH})
  list(TRANSFORM arg_USES PREPEND cordon_)
  list(TRANSFORM arg_USES APPEND _plain)
  target_link_libraries(${name} PRIVATE ${arg_USES})
  set_target_properties(${name} PROPERTIES CORDON_STATIC ON)
  # Archive members come in for a template that they happen to have; what nobody calls goes again, and its start with it.
  target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
endfunction()
add_custom_target(cordon_generated)
