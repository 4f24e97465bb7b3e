// SPDX-License-Identifier: Apache-2.0
// A run's bytes and the caller's: pipes and files as they are, or a terminal of our own relaying to
// the caller's.
#pragma once

#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "base/result.h"
#include "frame/guest.h"
#include "node/run.h"

namespace cordon::cli {

class CallerFace : public node::RunFace {
 public:
  // The size of the terminal that the program gets; nothing: it gets pipes.
  virtual std::optional<frame::WindowSize> terminal() const = 0;
  // Puts the caller's terminal back before anything else is said on it.
  virtual void leave() = 0;
};

// A terminal where standard input and output both are one; otherwise pipes. `raw`: all bytes of the
// program reach a terminal, which is the caller's to ask for.
Result<std::unique_ptr<CallerFace>> make_face(const asio::any_io_executor& executor, bool raw);

}  // namespace cordon::cli
