// SPDX-License-Identifier: Apache-2.0
// Patterns over the paths of requests.
#include <fmt/format.h>

#include "policy/parse_sections.h"
#include "policy/url_path.h"

namespace cordon::policy {

std::vector<std::string> parse_url_paths(const Section& section) {
  std::vector<std::string> paths;
  for (auto& path : section.texts("paths").items) {
    if (const Status status = check_url_pattern(path.value); !status) {
      section.problems().add(path.place.mark, fmt::format("`paths`: {}", status.error().text()));
    }
    paths.push_back(std::move(path.value));
  }
  if (paths.empty() && section.find("paths") != nullptr) {
    section.problem("paths", "`paths`: an empty list allows nothing; leave it out to allow all");
  }
  return paths;
}

}  // namespace cordon::policy
