// SPDX-License-Identifier: Apache-2.0
#include "cli/run_face.h"

#include "cli/pipe_face.h"
#include "cli/terminal_face.h"
#include "os/standard_streams.h"

namespace cordon::cli {

Result<std::unique_ptr<CallerFace>> make_face(const asio::any_io_executor& executor, bool raw) {
  if (os::is_standard_terminal(0) && os::is_standard_terminal(1)) {
    return make_terminal_face(executor, raw);
  }
  return make_pipe_face(executor, raw);
}

}  // namespace cordon::cli
