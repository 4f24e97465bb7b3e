// SPDX-License-Identifier: Apache-2.0
// Log records as lines of JSON on a descriptor, for static programs.
#pragma once

#include "base/log.h"
#include "os/fd.h"

namespace cordon::os {

// Each record is one write(2), so that lines of several processes on one pipe do not mix as long as
// they are shorter than PIPE_BUF. A record that cannot be written is lost: logging stops nobody, in
// a program that ignores SIGPIPE.
class FdLogSink final : public LogSink {
 public:
  explicit FdLogSink(Fd fd) noexcept : fd_{std::move(fd)} {}
  void write(const LogRecord& record) noexcept override;

 private:
  Fd fd_;
};

}  // namespace cordon::os
