// SPDX-License-Identifier: Apache-2.0
#include "machine/module_order.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

namespace cordon::machine {
namespace {

template <class Visit>
void each_part(std::string_view text, char apart, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(apart), text.size());
    if (end > 0) visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string module_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  name = name.substr(0, name.find(".ko"));
  std::string out{name};
  std::ranges::replace(out, '-', '_');
  return out;
}

Result<std::vector<std::string>> module_order(std::string_view dependencies,
                                              std::string_view built_in,
                                              std::span<const std::string_view> wanted) {
  std::set<std::string> inside;
  each_part(built_in, '\n', [&](std::string_view line) { inside.insert(module_name(line)); });
  std::map<std::string, std::vector<std::string>> known;  // the module itself last
  each_part(dependencies, '\n', [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::vector<std::string> needs;
    each_part(line.substr(colon + 1), ' ',
              [&](std::string_view path) { needs.emplace_back(path); });
    std::ranges::reverse(needs);
    needs.emplace_back(line.substr(0, colon));
    known.insert_or_assign(module_name(line.substr(0, colon)), std::move(needs));
  });
  std::vector<std::string> order;
  for (const std::string_view name : wanted) {
    const auto found = known.find(std::string{name});
    if (found == known.end()) {
      if (inside.contains(std::string{name})) continue;
      return Error{Errc::not_found, "the kernel has no module " + std::string{name}};
    }
    for (const std::string& path : found->second) {
      if (std::ranges::find(order, path) == order.end()) order.push_back(path);
    }
  }
  return order;
}

}  // namespace cordon::machine
