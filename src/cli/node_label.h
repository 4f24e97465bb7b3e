// SPDX-License-Identifier: Apache-2.0
// Labels of sandboxes, as a person types them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace cordon::cli {

struct Label {
  std::string name;
  std::string value;
  friend bool operator==(const Label&, const Label&) = default;
};
// Of "NAME=VALUE". `invalid`: it is none.
Result<Label> read_label(const std::string& word);

// --label, one value for each time that it is typed.
void add_label_flag(CLI::App& verb, std::vector<std::string>& labels, const char* meaning);

}  // namespace cordon::cli
