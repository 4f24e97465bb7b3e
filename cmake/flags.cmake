# SPDX-License-Identifier: Apache-2.0
# Flags go by target, never into CMAKE_CXX_FLAGS: static programs are linked without sanitizers in every preset.
set(CORDON_SANITIZE "" CACHE STRING "Sanitizers of ordinary targets, as for -fsanitize=")
option(CORDON_HARDEN "Hardening flags of a release" OFF)
option(CORDON_LEAN "Link nothing shared but the C library, and nothing that no one calls" OFF)
option(CORDON_FUZZ "Build libFuzzer targets instead of corpus replayers" OFF)
option(CORDON_BENCH "Build benchmarks" OFF)
option(CORDON_TESTS "Build tests" ON)
option(CORDON_COVERAGE "Source-based coverage" OFF)

# Assertions stay on in a release: a broken invariant ends the process, and reclaim cleans up.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

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

# A start of `cordon` is over in milliseconds: loading shared libraries would be a third of it. Debian has no static
# libfmt, so cmake/fmt.cc is one; without locales, which would bring half of libstdc++.
if(CORDON_LEAN)
  add_library(cordon_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cc)
  target_compile_definitions(cordon_fmt PRIVATE FMT_STATIC_THOUSANDS_SEPARATOR=',')
  target_compile_definitions(cordon_fmt INTERFACE FMT_SHARED)  # its headers look for a library
  target_link_libraries(cordon_fmt PRIVATE cordon_flags)
  target_link_options(cordon_flags INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections,--icf=safe,--as-needed)
  # Else the shared fmt that it names comes first, and with it the shared libstdc++.
  set_target_properties(spdlog::spdlog PROPERTIES INTERFACE_LINK_LIBRARIES "cordon_fmt;Threads::Threads")
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

# Static programs (launcher, init, probes): no sanitizer, header-only fmt, because Debian has no static libfmt.
add_library(cordon_plain INTERFACE)
target_link_libraries(cordon_plain INTERFACE cordon_flags fmt::fmt-header-only)

# One precompiled header for all checked targets: the standard headers that nearly every file includes.
add_library(cordon_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(cordon_pch PRIVATE cordon_checked)
target_precompile_headers(cordon_pch PRIVATE
  <algorithm> <array> <chrono> <cstdint> <expected> <functional> <map> <memory> <optional> <span> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
