// SPDX-License-Identifier: Apache-2.0
#include "policy/url_path.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::policy {
namespace {

// The byte that "%4a" at the front of `text` stands for.
std::optional<unsigned> escaped_byte(std::string_view text) noexcept {
  if (text.size() < 3 || text[0] != '%' ||
      text.substr(1, 2).find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return std::nullopt;
  const auto digit = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  };
  return digit(text[1]) * 16 + digit(text[2]);
}

// An escape at the front of `text` that has no other spelling. Escaped letters, digits, dots and
// slashes have a plain one; control characters have no business here; and the beginnings of a
// spelling that UTF-8 forbids for being too long are read by some all the same: "%c0%ae" is their
// dot.
bool is_plain_escape(std::string_view text) noexcept {
  const auto byte = escaped_byte(text);
  if (!byte || *byte < 0x20 || *byte == 0x7F || *byte == 0xC0 || *byte == 0xC1) return false;
  const unsigned next = escaped_byte(text.substr(3)).value_or(0);
  if ((*byte == 0xE0 && next < 0xA0) || (*byte == 0xF0 && next < 0x90)) return false;
  const auto c = static_cast<char>(*byte);
  return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view{"-._~/\\%"}.find(c) != std::string_view::npos);
}

// What no request that is judged by its path may have, and escapes, which a pattern cannot name.
bool has_no_place_in_url(char c) {
  return c <= ' ' || c >= 0x7F ||
         std::string_view{"%;?\\#\"<>[]^`{|}"}.find(c) != std::string_view::npos;
}

}  // namespace

bool is_plain_url_path(std::string_view path) noexcept {
  if (!path.starts_with('/') || path.size() > 8192) return false;
  const bool odd = std::ranges::any_of(path, [](char c) {
    return c <= ' ' || c >= 0x7F ||
           std::string_view{";\\#?\"<>[]^`{|}"}.find(c) != std::string_view::npos;
  });
  if (odd || path.find("//") != std::string_view::npos || path.ends_with("/.") ||
      path.ends_with("/.."))
    return false;
  if (path.find("/./") != std::string_view::npos || path.find("/../") != std::string_view::npos)
    return false;
  for (auto at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (!is_plain_escape(path.substr(at))) return false;
  }
  return true;
}

Status check_url_pattern(std::string_view pattern) {
  const auto refused = [&](std::string_view why) {
    return Error{Errc::invalid, fmt::format("{}: {}", in_quotes(pattern), why)};
  };
  if (!pattern.starts_with('/')) return refused("a path begins with `/`");
  if (std::ranges::any_of(pattern, has_no_place_in_url)) {
    return refused(
        "`%`, `?`, `;`, `\\`, `#`, quotes, brackets, blanks and letters beyond ASCII have no "
        "place here; write `*` for that part");
  }
  if (pattern == "/**" || pattern == "/*") {
    return refused("too wide: leave `paths` out to allow all paths");
  }
  if (pattern == "/") return {};
  return check_path_pattern(pattern);
}

UrlPaths::UrlPaths(const std::vector<std::string>& patterns) {
  for (std::uint32_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i] == "/") {
      root_ = true;
    } else {
      set_.add(patterns[i], i);
    }
  }
}

bool UrlPaths::covers(std::string_view path) const noexcept {
  if (path == "/") return root_;
  std::string_view relative = path.substr(1);
  if (relative.ends_with('/')) relative.remove_suffix(1);
  return set_.match(relative).outcome == PatternSet::Outcome::yes;  // overflow: not covered
}

}  // namespace cordon::policy
