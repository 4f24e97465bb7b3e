// SPDX-License-Identifier: Apache-2.0
// Patterns over the paths of requests.
#include <algorithm>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/parse_sections.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

// What no request that is judged by its path may have, and escapes, which a pattern cannot name.
bool has_no_place_in_url(char c) {
  return c <= ' ' || c >= 0x7F ||
         std::string_view{"%;?\\#\"<>[]^`{|}"}.find(c) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> parse_url_paths(const Section& section) {
  std::vector<std::string> paths;
  for (auto& path : section.texts("paths").items) {
    const auto say = [&](std::string_view why) {
      section.problems().add(path.place.mark,
                             fmt::format("`paths`: {}: {}", quoted(path.value), why));
    };
    if (!path.value.starts_with('/')) {
      say("a path begins with `/`");
    } else if (std::ranges::any_of(path.value, has_no_place_in_url)) {
      say("`%`, `?`, `;`, `\\`, `#`, quotes, brackets, blanks and letters beyond ASCII have no "
          "place "
          "here; "
          "write `*` for that part");
    } else if (path.value == "/**" || path.value == "/*") {
      say("too wide: leave `paths` out to allow all paths");
    } else if (path.value != "/") {
      if (const Status status = check_path_pattern(path.value); !status) {
        section.problems().add(path.place.mark, fmt::format("`paths`: {}", status.error().text()));
      }
    }
    paths.push_back(std::move(path.value));
  }
  if (paths.empty() && section.find("paths") != nullptr) {
    section.problem("paths", "`paths`: an empty list allows nothing; leave it out to allow all");
  }
  return paths;
}

}  // namespace cordon::policy
