// SPDX-License-Identifier: Apache-2.0
// JSON, written as it is said: no tree is built for an answer that is sent once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::wire {

// Whoever uses it closes what was opened, and gives every value of an object its key.
class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  // A value follows.
  void key(std::string_view name);

  void text(std::string_view name, std::string_view value);
  void number(std::string_view name, std::uint64_t value);
  void number(std::string_view name, std::int64_t value);
  void boolean(std::string_view name, bool value);
  void nothing(std::string_view name);
  // Of a program: as NAME where they are UTF-8, else as NAME_base64. One of the two is there.
  void bytes(std::string_view name, std::string_view value);

  void texts(std::string_view name, const std::vector<std::string>& values);

  // In an array.
  void text(std::string_view value);

  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string text_;
  bool is_first_ = true;  // in what was opened last
};

}  // namespace cordon::wire
