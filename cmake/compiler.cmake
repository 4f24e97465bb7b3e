# SPDX-License-Identifier: Apache-2.0
# Refuses compilers that are known to build this project wrongly.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR
    "GCC ${CMAKE_CXX_COMPILER_VERSION} cannot build Cordon: below 14 it destroys a temporary aggregate twice when it "
    "stands in the same expression as a co_await (docs/adr/0001-clang-19-and-expected.md).\n"
    "Use clang 19: cmake --preset dev, or -DCMAKE_CXX_COMPILER=clang++-19 (./dev setup installs it).")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "Cordon needs clang 19, found ${CMAKE_CXX_COMPILER_VERSION}: run ./dev setup, then ./dev.")
endif()
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# ccache where present. A precompiled header is safe under it only with these sloppiness flags (and with
# -fno-pch-timestamp, in flags.cmake).
find_program(CORDON_CCACHE ccache)
if(CORDON_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CORDON_CCACHE})
endif()
