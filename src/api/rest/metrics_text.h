// SPDX-License-Identifier: Apache-2.0
// Numbers in the text form that Prometheus reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::api {

// `help`: a sentence without line breaks or backslashes.
class MetricsText {
 public:
  void counter(std::string_view name, std::string_view help, std::uint64_t value) {
    add("counter", name, help, value);
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    add("gauge", name, help, value);
  }
  std::string take() { return std::move(text_); }

 private:
  void add(std::string_view kind, std::string_view name, std::string_view help,
           std::uint64_t value);
  std::string text_;
};

}  // namespace cordon::api
