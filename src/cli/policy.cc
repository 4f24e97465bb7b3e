// SPDX-License-Identifier: Apache-2.0
// cordon policy: check, show, explain, why and test policies.
#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace cordon::cli {

void add_policy(CLI::App& /*app*/, Context& /*context*/) {}

}  // namespace cordon::cli
