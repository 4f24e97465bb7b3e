// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/call.h"

namespace cordon::cli {

std::string text_in(const json::object& arguments, std::string_view key) {
  const json::string* const text = mcp::server::text_at(arguments, key);
  return text == nullptr ? std::string{} : std::string{*text};
}

std::int64_t number_in(const json::object& arguments, std::string_view key,
                       std::int64_t otherwise) {
  const json::value* const value = arguments.if_contains(key);
  if (value == nullptr || !value->is_number()) return otherwise;
  boost::system::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  return error ? otherwise : number;
}

bool flag_in(const json::object& arguments, std::string_view key) {
  const json::value* const value = arguments.if_contains(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

}  // namespace cordon::cli
