// SPDX-License-Identifier: Apache-2.0
// SpdlogSink: log records become lines of JSON, written by a thread of their own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace cordon::async {

// One line per record: to_json_line's object with "time" (UTC, milliseconds) as its first key.
// `write` formats and queues, it never waits for the disk: when the queue is full the oldest line
// is dropped and counted. The destructor writes what is queued.
class SpdlogSink final : public LogSink {
 public:
  // `clock` outlives the sink.
  static Result<std::unique_ptr<SpdlogSink>> to_file(const std::filesystem::path& path,
                                                     const Clock& clock);
  static std::unique_ptr<SpdlogSink> to_stderr(const Clock& clock);

  SpdlogSink(const SpdlogSink&) = delete;
  SpdlogSink& operator=(const SpdlogSink&) = delete;
  ~SpdlogSink() override;

  void write(const LogRecord& record) noexcept override;
  std::size_t dropped() const noexcept;

 private:
  struct Writer;
  SpdlogSink(std::unique_ptr<Writer> writer, const Clock& clock);
  std::unique_ptr<Writer> writer_;
  const Clock& clock_;
};

}  // namespace cordon::async
