// SPDX-License-Identifier: Apache-2.0
// A run whose program has a terminal of its own, relayed to the caller's.
#pragma once

#include "cli/run_face.h"

namespace cordon::cli {

Result<std::unique_ptr<CallerFace>> make_terminal_face(const asio::any_io_executor& executor,
                                                       bool raw);

}  // namespace cordon::cli
