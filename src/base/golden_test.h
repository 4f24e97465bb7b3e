// SPDX-License-Identifier: Apache-2.0
// Texts that a person has reviewed, kept in files. CORDON_UPDATE_GOLDEN=1 writes them anew; review
// the difference. Names are relative to the top of the sources.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace cordon {

inline std::string read_source(const std::string& name) {
  std::ifstream file{std::string{CORDON_SOURCE_DIR} + '/' + name, std::ios::binary};
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>{file}, {}};
}

inline void expect_golden(const std::string& name, const std::string& text) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a test has one thread
  if (std::getenv("CORDON_UPDATE_GOLDEN") != nullptr)
    std::ofstream{std::string{CORDON_SOURCE_DIR} + '/' + name, std::ios::binary} << text;
  EXPECT_EQ(read_source(name), text) << name;
}

}  // namespace cordon
