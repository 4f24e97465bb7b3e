// SPDX-License-Identifier: Apache-2.0
// A verb that has run in a test.
#pragma once

#include <string>

namespace cordon::cli {

struct Ran {
  int exit;
  std::string out;
  std::string err;

  // What mint and attenuate print.
  std::string token() const { return out.substr(0, out.find('\n')); }
};

}  // namespace cordon::cli
