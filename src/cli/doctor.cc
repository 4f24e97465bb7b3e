// SPDX-License-Identifier: Apache-2.0
// cordon doctor: what this machine can enforce.
#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace cordon::cli {

void add_doctor(CLI::App& /*app*/, Context& /*context*/) {}

}  // namespace cordon::cli
