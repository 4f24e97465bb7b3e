// SPDX-License-Identifier: Apache-2.0
// Log records as lines of JSON on a descriptor, for static programs.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "os/fd.h"

namespace cordon::os {

// Each record is one write(2), so that lines of several processes on one pipe do not mix as long as
// they are shorter than PIPE_BUF. A record that cannot be written is lost: logging stops nobody, in
// a program that ignores SIGPIPE.
class FdLogSink final : public LogSink {
 public:
  // `clock` outlives it.
  FdLogSink(Fd fd, const Clock& clock) noexcept : fd_{std::move(fd)}, clock_{clock} {}
  void write(const LogRecord& record) noexcept override;

 private:
  Fd fd_;
  const Clock& clock_;
};

}  // namespace cordon::os
