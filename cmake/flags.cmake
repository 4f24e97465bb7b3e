# SPDX-License-Identifier: Apache-2.0
# Flags go by target, never into CMAKE_CXX_FLAGS: static programs are linked without sanitizers in every preset.
set(CORDON_SANITIZE "" CACHE STRING "Sanitizers of ordinary targets, as for -fsanitize=")
option(CORDON_HARDEN "Hardening flags of a release" OFF)
option(CORDON_LEAN "Link nothing shared but the C library, and nothing that no one calls" OFF)
option(CORDON_FUZZ "Build libFuzzer targets instead of corpus replayers" OFF)
option(CORDON_BENCH "Build benchmarks" OFF)
option(CORDON_TESTS "Build tests" ON)
option(CORDON_COVERAGE "Source-based coverage" OFF)
option(CORDON_UNITY "Compile a module's files eight at a time: half of the time from nothing, more after each change" OFF)

# Lines are what a sanitizer's report, a profile and a crash need, and a tenth of the build is saved. For a debugger that
# shows variables: cmake --preset dev -DCORDON_DEBUG_INFO=-g
set(CORDON_DEBUG_INFO "-gline-tables-only" CACHE STRING "Debug information")
# Assertions stay on in a release: a broken invariant ends the process, and reclaim cleans up.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 ${CORDON_DEBUG_INFO}")
set(CMAKE_CXX_FLAGS_DEBUG "${CORDON_DEBUG_INFO}")

# What every target of ours is compiled with.
add_library(cordon_flags INTERFACE)
target_include_directories(cordon_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
target_compile_options(cordon_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror=unused-result
  -Wno-missing-field-initializers -Wno-missing-designated-field-initializers -Werror
  -fPIE "SHELL:-Xclang -fno-pch-timestamp" -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_definitions(cordon_flags INTERFACE
  CORDON_VERSION="${PROJECT_VERSION}" BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED)
target_link_options(cordon_flags INTERFACE -fuse-ld=lld-19)
if(CORDON_HARDEN)
  target_compile_options(cordon_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
    -ftrivial-auto-var-init=zero)
  target_compile_definitions(cordon_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(cordon_flags INTERFACE -Wl,-z,relro,-z,now)
endif()

# Debian has no static libfmt, so cmake/fmt.cc is one; without locales, which would bring half of libstdc++.
add_library(cordon_static_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cc)
target_compile_definitions(cordon_static_fmt PRIVATE FMT_STATIC_THOUSANDS_SEPARATOR=',')
target_compile_definitions(cordon_static_fmt INTERFACE FMT_SHARED)  # its headers look for a library
target_link_libraries(cordon_static_fmt PRIVATE cordon_flags)

# A start of `cordon` is over in milliseconds: loading shared libraries would be a third of it.
if(CORDON_LEAN)
  add_library(cordon_fmt ALIAS cordon_static_fmt)
  target_link_options(cordon_flags INTERFACE -Wl,--gc-sections,--icf=safe,--as-needed)
  # What links gRPC says CORDON_SHARED: its libraries bring the shared libstdc++, and two would not agree.
  target_link_options(cordon_flags INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CORDON_SHARED>>>:-static-libstdc++> $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CORDON_SHARED>>>:-static-libgcc>)
  # Else the shared fmt that it names comes first, and with it the shared libstdc++.
  set_target_properties(spdlog::spdlog PROPERTIES INTERFACE_LINK_LIBRARIES "cordon_static_fmt;Threads::Threads")
else()
  add_library(cordon_fmt ALIAS fmt::fmt)
endif()

# Ordinary targets: sanitizers of the preset.
add_library(cordon_checked INTERFACE)
target_link_libraries(cordon_checked INTERFACE cordon_flags cordon_fmt)
target_link_options(cordon_checked INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CORDON_STATIC>>>:-pie>)
if(CORDON_SANITIZE)
  # Not vptr: its check opens a pipe to read memory, and reports nonsense in tests that use up all descriptors.
  target_compile_options(cordon_checked INTERFACE -fsanitize=${CORDON_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cordon_checked INTERFACE -fsanitize=${CORDON_SANITIZE})
endif()
if(CORDON_FUZZ)
  target_compile_options(cordon_checked INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CORDON_COVERAGE)
  target_compile_options(cordon_checked INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(cordon_checked INTERFACE -fprofile-instr-generate -fcoverage-mapping)
endif()

# Static programs (launcher, init, probes): no sanitizer.
add_library(cordon_plain INTERFACE)
target_link_libraries(cordon_plain INTERFACE cordon_flags cordon_static_fmt)
if(NOT CORDON_LEAN)
  # Tests hold what cordon-init takes of memory: its stack is a good part of it.
  target_compile_options(cordon_plain INTERFACE -O1)
endif()

# Precompiled headers: what many files include and few compile quickly. Asio's are for those alone who link it: its
# headers hold objects that need the library.
set(CORDON_PRECOMPILED
  <algorithm> <array> <chrono> <cstdint> <expected> <filesystem> <fstream> <functional> <map> <memory> <optional> <span>
  <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> ${PROJECT_SOURCE_DIR}/src/base/result.h)
set(CORDON_PRECOMPILED_ASIO ${CORDON_PRECOMPILED}
  <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp>
  <boost/asio/ip/tcp.hpp> <boost/asio/posix/stream_descriptor.hpp> <boost/asio/steady_timer.hpp>
  <boost/asio/use_awaitable.hpp>)

# cordon_precompiled(NAME "LIBRARY;..." HEADER...)
function(cordon_precompiled name libraries)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
  target_link_libraries(${name} PRIVATE ${libraries})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
cordon_precompiled(cordon_pch cordon_checked ${CORDON_PRECOMPILED})
cordon_precompiled(cordon_asio_pch cordon_checked ${CORDON_PRECOMPILED_ASIO})
cordon_precompiled(cordon_cli_pch "cordon_checked;CLI11::CLI11" ${CORDON_PRECOMPILED_ASIO} <CLI/CLI.hpp>)
if(CORDON_TESTS)
  cordon_precompiled(cordon_test_pch "cordon_checked;GTest::gtest" ${CORDON_PRECOMPILED} <gtest/gtest.h>)
  cordon_precompiled(cordon_asio_test_pch "cordon_checked;GTest::gtest" ${CORDON_PRECOMPILED_ASIO} <gtest/gtest.h>)
endif()
set(CORDON_PLAIN_PCH cordon_pch)
if(NOT CORDON_LEAN)
  set(CORDON_PLAIN_PCH cordon_plain_pch)
  cordon_precompiled(cordon_plain_pch cordon_plain ${CORDON_PRECOMPILED})
endif()
