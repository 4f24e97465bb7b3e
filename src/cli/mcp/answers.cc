// SPDX-License-Identifier: Apache-2.0
// What several tools answer with.
#include <csignal>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "cli/mcp/tools.h"

namespace cordon::cli {
namespace {

std::string denial_text(const std::string& text) {
  std::string whole = mcp::server::as_utf8(text);
  while (whole.ends_with(' ')) whole.pop_back();
  return whole;
}

}  // namespace

json::array to_json(const std::vector<Denial>& denials) {
  json::array all;
  for (const Denial& denial : denials) {
    all.push_back(json::object{{"code", denial.code},
                               {"tried", denial_text(denial.tried)},
                               {"resolved", denial_text(denial.resolved)},
                               {"rule", denial_text(denial.rule)},
                               {"why", denial_text(denial.why)},
                               {"fix", denial_text(denial.fix)},
                               {"action", denial_text(denial.action)},
                               {"retryable", denial.retry_helps},
                               {"count", denial.count}});
  }
  return all;
}

std::string signal_name(int number) {
  const char* const short_name = ::sigabbrev_np(number);
  return short_name == nullptr ? fmt::format("signal {}", number)
                               : fmt::format("SIG{}", short_name);
}

json::value signal_or_null(const std::optional<int>& number) {
  return number ? json::value(signal_name(*number)) : json::value{};
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value{} : json::value(text);
}

}  // namespace cordon::cli
