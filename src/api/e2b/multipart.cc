// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/multipart.h"

#include <algorithm>
#include <utility>

#include "http/characters.h"

namespace cordon::api::e2b {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kLongestBoundary = 70;  // RFC 2046
constexpr std::size_t kLongestHeads = std::size_t{8} << 10U;

Error no_form(std::string why) { return Error{Errc::invalid, "the form: " + std::move(why)}; }

// The next of `; name=value`, from the front of `rest`.
struct Parameter {
  std::string_view name;
  std::string_view value;
};
Result<Parameter> take_parameter(std::string_view& rest) {
  rest = http::trimmed(rest);
  if (!rest.starts_with(';')) return no_form("a parameter without `;` in front");
  rest = http::trimmed(rest.substr(1));
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return no_form("a parameter without a value");
  Parameter found{.name = http::trimmed(rest.substr(0, equals)), .value = {}};
  rest.remove_prefix(equals + 1);
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  const std::size_t end =
      quoted ? rest.find('"') : std::min(rest.find_first_of("; \t"), rest.size());
  if (end == std::string_view::npos) return no_form("a quote that does not end");
  found.value = rest.substr(0, end);
  rest.remove_prefix(end + (quoted ? 1 : 0));
  return found;
}

// The three that a form cannot hold as they are; any other percent sign is one.
std::string resolved(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}};
  std::string out;
  while (!text.empty()) {
    const auto* const found = std::ranges::find_if(
        kEscapes, [&](const auto& escape) { return text.starts_with(escape.first); });
    const bool is_escape = found != std::end(kEscapes);
    out += is_escape ? found->second : text.front();
    text.remove_prefix(is_escape ? found->first.size() : 1);
  }
  return out;
}

Status take_disposition(std::string_view value, Multipart::Part& part, bool& has_name) {
  constexpr std::string_view kKind = "form-data";
  if (!http::same_name(http::trimmed(value.substr(0, value.find(';'))), kKind)) {
    return no_form("a part that is no form-data");
  }
  std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
  while (!http::trimmed(rest).empty()) {
    TRY(const Parameter found, take_parameter(rest));
    if (http::same_name(found.name, "name")) {
      if (std::exchange(has_name, true)) return no_form("a part with two names");
      part.name = resolved(found.value);
    } else if (http::same_name(found.name, "filename")) {
      if (part.file_name) return no_form("a part with two file names");
      part.file_name = resolved(found.value);
    }
  }
  return {};
}

Result<Multipart::Part> read_heads(std::string_view heads) {
  Multipart::Part part;
  bool has_name = false;
  bool has_disposition = false;
  while (!heads.empty()) {
    const std::size_t end = std::min(heads.find(kLineEnd), heads.size());
    const std::string_view line = heads.substr(0, end);
    heads.remove_prefix(std::min(end + kLineEnd.size(), heads.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return no_form("a head without a colon");
    if (!http::same_name(line.substr(0, colon), "content-disposition")) continue;
    if (std::exchange(has_disposition, true)) return no_form("two Content-Disposition");
    TRY_DO(take_disposition(http::trimmed(line.substr(colon + 1)), part, has_name));
  }
  if (!has_name) return no_form("a part without a name");
  return part;
}

bool is_of_boundary(char c) {
  return http::is_digit(c) || http::is_letter(c) ||
         std::string_view{"'()+_,-./:=?"}.find(c) != std::string_view::npos;
}

}  // namespace

Result<Multipart> Multipart::of_type(std::string_view content_type) {
  const std::size_t semicolon = std::min(content_type.find(';'), content_type.size());
  if (!http::same_name(http::trimmed(content_type.substr(0, semicolon)), "multipart/form-data")) {
    return no_form("its type is not multipart/form-data");
  }
  std::string_view rest = content_type.substr(semicolon);
  std::string boundary;
  while (!http::trimmed(rest).empty()) {
    TRY(const Parameter found, take_parameter(rest));
    if (!http::same_name(found.name, "boundary")) continue;
    if (!boundary.empty()) return no_form("two boundaries");
    boundary = found.value;
  }
  if (boundary.empty() || boundary.size() > kLongestBoundary ||
      !std::ranges::all_of(boundary, is_of_boundary)) {
    return no_form("no boundary of 1 to 70 plain letters");
  }
  return Multipart{"\r\n--" + boundary};
}

Result<Multipart::Next> Multipart::next() {
  switch (state_) {
    case State::boundary:
      return pass_boundary();
    case State::heads:
      return take_heads();
    case State::data:
      return take_data();
    case State::over:
      if (held_.size() > kLineEnd.size() || !kLineEnd.starts_with(held_)) {
        return no_form("bytes behind its end");
      }
      return Next{};
  }
  return Next{};
}

// With the delimiter at the front, whole or in part.
Result<Multipart::Next> Multipart::pass_boundary() {
  const std::size_t known = std::min(held_.size(), delimiter_.size());
  if (held_.compare(0, known, delimiter_, 0, known) != 0) {
    return no_form("it does not begin with its boundary");
  }
  if (held_.size() < delimiter_.size() + 2) return Next{};
  const std::string_view behind = std::string_view{held_}.substr(delimiter_.size(), 2);
  if (behind != "--" && behind != kLineEnd) return no_form("a boundary that goes on");
  state_ = behind == "--" ? State::over : State::heads;
  held_.erase(0, delimiter_.size() + 2);
  if (std::exchange(is_first_, false)) return next();
  return Next{PartEnd{}};
}

Result<Multipart::Next> Multipart::take_heads() {
  const std::size_t end = held_.find("\r\n\r\n");
  if (std::min(end, held_.size()) > kLongestHeads) return no_form("heads of a part past 8 KiB");
  if (end == std::string::npos) return Next{};
  TRY(Part part, read_heads(std::string_view{held_}.substr(0, end)));
  held_.erase(0, end + 2 * kLineEnd.size());
  state_ = State::data;
  return Next{std::move(part)};
}

Result<Multipart::Next> Multipart::take_data() {
  const std::size_t found = held_.find(delimiter_);
  if (found == 0) {
    state_ = State::boundary;
    return pass_boundary();
  }
  // The end of what is here may be the beginning of the delimiter.
  const std::size_t kept = std::min(held_.size(), delimiter_.size() - 1);
  const std::size_t sure = found != std::string::npos ? found : held_.size() - kept;
  if (sure == 0) return Next{};
  Data data{held_.substr(0, sure)};
  held_.erase(0, sure);
  return Next{std::move(data)};
}

}  // namespace cordon::api::e2b
