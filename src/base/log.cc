// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>

#include "base/time_text.h"

namespace cordon {
namespace {

// The one global of the project: where log records go.
std::atomic<LogSink*> g_sink{nullptr};

// Length of the valid UTF-8 sequence at the front of `text`, or 0. Overlong forms, surrogates and
// C1 controls count as invalid.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80) return 0;
  }
  if (lead == 0xC2 && at(1) < 0xA0) return 0;
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) >= 0xA0) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) >= 0x90) return 0;
  return length;
}

void append_escaped_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u00";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

struct AppendValue {
  std::string& out;
  void operator()(std::string_view text) const { append_json_string(out, text); }
  void operator()(std::int64_t number) const { out += std::to_string(number); }
  void operator()(bool yes) const { out += yes ? "true" : "false"; }
};

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    if (const std::size_t length = utf8_length(text); length > 0) {
      out += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      append_escaped_byte(out, static_cast<unsigned char>(c));
    } else {
      out += c;
    }
    text.remove_prefix(1);
  }
  out += '"';
}

std::string to_json_line(const LogRecord& record) {
  std::string line = R"({"level":)";
  append_json_string(line, to_string(record.level));
  line += R"(,"component":)";
  append_json_string(line, record.component);
  line += R"(,"message":)";
  append_json_string(line, record.message);
  for (const LogField& field : record.fields) {
    line += ',';
    append_json_string(line, field.name);
    line += ':';
    std::visit(AppendValue{line}, field.value);
  }
  line += '}';
  return line;
}

void set_log_sink(LogSink* sink) noexcept { g_sink.store(sink, std::memory_order_release); }

void log(LogLevel level, std::string_view component, std::string_view message,
         std::initializer_list<LogField> fields) noexcept {
  if (LogSink* const sink = g_sink.load(std::memory_order_acquire)) {
    sink->write({level, component, message, {fields.begin(), fields.size()}});
  }
}

std::string to_json_line(const LogRecord& record, WallTime now) {
  return R"({"time":")" + to_text(now) + R"(",)" + to_json_line(record).substr(1);
}

}  // namespace cordon
