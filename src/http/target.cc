// SPDX-License-Identifier: Apache-2.0
#include "http/target.h"

#include <algorithm>
#include <utility>

#include "http/characters.h"
#include "http/refusal.h"

namespace cordon::http {
namespace {

// What browsers escape in a path, and the backslash, which some read as a slash.
constexpr CharacterSet is_path_character{[](char c) {
  return is_visible(c) && std::string_view{"\"<>\\`{}"}.find(c) == std::string_view::npos;
}};

// `.` or `..`, also with escaped dots, also with the parameters that some servers cut off.
bool is_dot_segment(std::string_view segment) noexcept {
  segment = segment.substr(0, segment.find(';'));
  std::size_t dots = 0;
  while (!segment.empty()) {
    const bool escaped =
        segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' && lower(segment[2]) == 'e';
    if (!escaped && segment[0] != '.') return false;
    segment.remove_prefix(escaped ? 3 : 1);
    ++dots;
  }
  return dots == 1 || dots == 2;
}

struct Separator {
  std::size_t at = 0;
  std::size_t length = 1;
};

// The next slash from `start` on, or an escaped one, or an escaped backslash: some servers look for
// dots after they have undone escapes. At the end of the path when there is none.
Separator separator_in(std::string_view path, std::size_t start) noexcept {
  for (std::size_t i = start; i < path.size(); ++i) {
    if (path[i] == '/') return {.at = i};
    if (path[i] != '%') continue;
    const std::string_view escape = path.substr(i, 3);
    if (same_name(escape, "%2f") || same_name(escape, "%5c")) return {.at = i, .length = 3};
  }
  return {.at = path.size()};
}

Status check_escape(std::string_view path, std::size_t i, std::size_t at) {
  const int high = i + 2 < path.size() ? hex_value(path[i + 1]) : -1;
  const int low = i + 2 < path.size() ? hex_value(path[i + 2]) : -1;
  if (high < 0 || low < 0) return refused(kInHead, at + i, "an escape without two digits");
  if (high < 2 || (high == 7 && low == 15))
    return refused(kInHead, at + i, "an escaped control character in the path");
  return {};
}

Status check_path(std::string_view path, std::size_t at) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_path_character(path[i]))
      return refused(kInHead, at + i, "a character that no path has");
    if (path[i] == '%') {
      TRY_DO(check_escape(path, i, at));
    }
  }
  for (std::size_t start = 1; start <= path.size();) {
    const Separator next = separator_in(path, start);
    if (is_dot_segment(path.substr(start, next.at - start)))
      return refused(kInHead, at + start, "a `.` or `..` segment in the path");
    start = next.at + next.length;
  }
  return {};
}

// `text` is a path, empty or with its slash, and perhaps a query.
Status read_path(Target& target, std::string_view text, std::size_t at) {
  const auto mark = std::min(text.find('?'), text.size());
  const std::string_view path = text.substr(0, mark);
  TRY_DO(check_path(path, at));
  target.path = path.empty() ? "/" : std::string{path};
  if (mark == text.size()) return {};
  const std::string_view query = text.substr(mark + 1);
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (!is_visible(query[i]))
      return refused(kInHead, at + mark + 1 + i, "a character that no query has");
  }
  target.query = query;
  return {};
}

Result<Authority> read_authority(std::string_view text, std::size_t at) {
  auto authority = parse_authority(text);
  if (!authority) return refused(kInHead, at, authority.error().text());
  return authority;
}

Result<Target> read_absolute(std::string_view text, std::size_t at) {
  Target target{.kind = TargetKind::absolute};
  std::size_t scheme = 0;
  if (same_name(text.substr(0, 7), "http://")) {
    scheme = 7;
  } else if (same_name(text.substr(0, 8), "https://")) {
    scheme = 8;
    target.scheme = Scheme::https;
  } else {
    return refused(kInHead, at, "a target is a path, or a URL of http or https");
  }
  const auto end = std::min(text.find_first_of("/?", scheme), text.size());
  TRY(target.authority, read_authority(text.substr(scheme, end - scheme), at + scheme));
  TRY_DO(read_path(target, text.substr(end), at + end));
  return target;
}

}  // namespace

Result<Target> parse_target(std::string_view method, std::string_view text, std::size_t at) {
  if (text.empty()) return refused(kInHead, at, "an empty target");
  if (const auto mark = text.find('#'); mark != std::string_view::npos)
    return refused(kInHead, at + mark, "a fragment in the target");
  if (method == "CONNECT") {
    Target target{.kind = TargetKind::authority, .path = {}};
    TRY(target.authority, read_authority(text, at));
    if (!target.authority.port) return refused(kInHead, at, "CONNECT names a host and a port");
    return target;
  }
  if (text == "*") {
    if (method != "OPTIONS") return refused(kInHead, at, "only OPTIONS has the target *");
    return Target{.kind = TargetKind::asterisk, .path = {}};
  }
  if (!text.starts_with('/')) return read_absolute(text, at);
  Target target;
  TRY_DO(read_path(target, text, at));
  return target;
}

bool agrees(const Authority& host, const Target& target) noexcept {
  switch (target.kind) {
    case TargetKind::origin:
    case TargetKind::asterisk:
      return true;
    case TargetKind::authority:  // clients leave the port out of Host here, or repeat it
      return host.host == target.authority.host &&
             (!host.port || host.port == target.authority.port);
    case TargetKind::absolute:
      break;
  }
  const std::uint16_t usual = target.scheme == Scheme::http ? 80 : 443;
  return host.host == target.authority.host &&
         host.port.value_or(usual) == target.authority.port.value_or(usual);
}

RequestHead in_origin_form(RequestHead head) {
  if (head.target.kind != TargetKind::absolute) return head;
  head.target = {.path = std::move(head.target.path), .query = std::move(head.target.query)};
  return head;
}

}  // namespace cordon::http
