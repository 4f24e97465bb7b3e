// SPDX-License-Identifier: Apache-2.0
#include "http/head.h"

#include <algorithm>

#include "http/characters.h"

namespace cordon::http {

std::size_t count(const Fields& fields, std::string_view name) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [&](const Field& field) { return same_name(field.name, name); }));
}

std::optional<std::string_view> only(const Fields& fields, std::string_view name) noexcept {
  std::optional<std::string_view> value;
  for (const Field& field : fields) {
    if (!same_name(field.name, name)) continue;
    if (value) return std::nullopt;
    value = field.value;
  }
  return value;
}

void remove_all_spellings(Fields& fields, std::string_view name) {
  std::erase_if(fields, [&](const Field& field) { return reads_as(field.name, name); });
}

void remove_all_that_begin(Fields& fields, std::string_view beginning) {
  std::erase_if(fields, [&](const Field& field) {
    return reads_as(std::string_view{field.name}.substr(0, beginning.size()), beginning);
  });
}

std::string to_string(const Target& target) {
  std::string text;
  switch (target.kind) {
    case TargetKind::asterisk:
      return "*";
    case TargetKind::authority:
      return to_string(target.authority);
    case TargetKind::absolute:
      text = target.scheme == Scheme::http ? "http://" : "https://";
      text += to_string(target.authority);
      break;
    case TargetKind::origin:
      break;
  }
  text += target.path;
  if (target.query) text.append("?").append(*target.query);
  return text;
}

}  // namespace cordon::http
