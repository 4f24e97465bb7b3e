// SPDX-License-Identifier: Apache-2.0
// A run whose program has pipes: its bytes go out untouched, but where they end on a terminal.
#pragma once

#include "cli/run_face.h"

namespace cordon::cli {

Result<std::unique_ptr<CallerFace>> make_pipe_face(const asio::any_io_executor& executor, bool raw);

}  // namespace cordon::cli
