// SPDX-License-Identifier: Apache-2.0
// One line, one write.
#include "os/fd_log_sink.h"

#include <string>

#include "os/file.h"

namespace cordon::os {

void FdLogSink::write(const LogRecord& record) noexcept {
  const std::string line = to_json_line(record, clock_.wall()) + "\n";
  static_cast<void>(write_all(fd_, line));
}

}  // namespace cordon::os
