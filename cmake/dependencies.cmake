# SPDX-License-Identifier: Apache-2.0
# The libraries of packages.txt, one per job.
find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ${CORDON_LEAN})
find_package(Boost 1.81.0 EXACT CONFIG REQUIRED COMPONENTS json)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(valijson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(GTest REQUIRED)
find_library(CORDON_LIBCAP NAMES libcap.a REQUIRED)
