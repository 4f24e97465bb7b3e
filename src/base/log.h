// SPDX-License-Identifier: Apache-2.0
// A log record and the one place it goes to. No formatting library and no I/O here: daemons install
// the spdlog sink of `async`, static programs a sink that writes lines to an fd.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"

namespace cordon {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
std::string_view to_string(LogLevel level) noexcept;

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, bool> value;
};

// Views only: a sink that keeps a record copies it.
struct LogRecord {
  LogLevel level;
  std::string_view component;  // "launcher", "egress"
  std::string_view message;    // a constant; what varies goes into fields
  std::span<const LogField> fields;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  // May be called from any thread.
  virtual void write(const LogRecord& record) noexcept = 0;
};

// Called once by main before any thread starts; nullptr (the beginning) drops records.
// The sink outlives every caller of `log`.
void set_log_sink(LogSink* sink) noexcept;

void log(LogLevel level, std::string_view component, std::string_view message,
         std::initializer_list<LogField> fields = {}) noexcept;

// One line of JSON without its newline: {"level":…,"component":…,"message":…,FIELDS}.
std::string to_json_line(const LogRecord& record);
// With {"time":…, before all else.
std::string to_json_line(const LogRecord& record, WallTime now);

// Appends `text` as a JSON string with its quotes. Bytes that are no UTF-8 and control characters
// come out escaped, so that hostile text can neither end the line nor move a terminal's cursor.
void append_json_string(std::string& out, std::string_view text);

}  // namespace cordon
