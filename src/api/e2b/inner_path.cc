// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/inner_path.h"

#include <vector>

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kLongestPath = 4095;

}  // namespace

Result<std::string> inner_path(std::string_view path) {
  if (path.size() > kLongestPath) return Error{Errc::invalid, "a path has at most 4095 bytes"};
  if (path.find('\0') != std::string_view::npos) {
    return Error{Errc::invalid, "a path has no zero byte"};
  }
  std::string whole;
  if (path == "~" || path.starts_with("~/")) {
    whole = std::string{kHome} + std::string{path.substr(1)};
  } else if (!path.starts_with('/')) {
    whole = std::string{kHome} + "/" + std::string{path};
  } else {
    whole = path;
  }
  std::vector<std::string_view> parts;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string plain;
  for (const std::string_view part : parts) {
    plain += '/';
    plain += part;
  }
  return plain.empty() ? std::string{"/"} : plain;
}

std::string base_name(std::string_view path) {
  if (path == "/") return "/";
  return std::string{path.substr(path.rfind('/') + 1)};
}

}  // namespace cordon::api::e2b
