// SPDX-License-Identifier: Apache-2.0
#include "fleet/value_fields.h"

#include <fmt/format.h>

namespace cordon::fleet {

Error ValueFields::wrong(std::string_view key) const {
  return Error{Errc::invalid, fmt::format("{}: `{}` is missing or wrong", what_, key)};
}

Result<std::int64_t> ValueFields::number(std::string_view key, std::int64_t least,
                                         std::int64_t most) const {
  const policy::Value* const found = find(key);
  const std::int64_t* const value = found != nullptr ? found->integer() : nullptr;
  if (value == nullptr || *value < least || *value > most) return wrong(key);
  return *value;
}

Result<std::string> ValueFields::text(std::string_view key, std::size_t longest) const {
  const policy::Value* const found = find(key);
  const std::string* const value = found != nullptr ? found->text() : nullptr;
  if (value == nullptr || value->size() > longest) return wrong(key);
  return *value;
}

Result<bool> ValueFields::truth(std::string_view key) const {
  const policy::Value* const found = find(key);
  const bool* const value = found != nullptr ? found->boolean() : nullptr;
  if (value == nullptr) return wrong(key);
  return *value;
}

}  // namespace cordon::fleet
