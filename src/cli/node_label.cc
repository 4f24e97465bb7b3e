// SPDX-License-Identifier: Apache-2.0
#include "cli/node_label.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::cli {

Result<Label> read_label(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{Errc::invalid,
                 fmt::format("--label {}: expected NAME=VALUE", policy::in_quotes(word))};
  }
  return Label{word.substr(0, equals), word.substr(equals + 1)};
}

void add_label_flag(CLI::App& verb, std::vector<std::string>& labels, const char* meaning) {
  verb.add_option("-l,--label", labels, meaning)
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace cordon::cli
