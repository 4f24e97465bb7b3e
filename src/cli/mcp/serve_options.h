// SPDX-License-Identifier: Apache-2.0
// The flags of `cordon mcp serve`.
#pragma once

#include <string>

#include "cli/run_options.h"

namespace cordon::cli {

struct ServeOptions {
  RunOptions run;          // what the sandboxes may: wider is only what a person grants
  std::string http;        // HOST:PORT or unix:PATH; empty: standard input and output
  std::string token_file;  // empty: a new token is printed
  bool allow_apply = false;
};

}  // namespace cordon::cli
