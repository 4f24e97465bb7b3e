// SPDX-License-Identifier: Apache-2.0
// How a fuzz target says what it found: ./dev fuzz and tools/full.sh look for these words.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace cordon::fuzz {

[[noreturn]] inline void broken(std::string_view promise) {
  std::cerr << "broken promise: " << promise << '\n';
  std::abort();
}

}  // namespace cordon::fuzz
