// SPDX-License-Identifier: Apache-2.0
// Where the output of a process in a node goes: to our own streams, or as lines of JSON.
#pragma once

#include <array>

#include "cli/output_lines.h"
#include "cli/standard_stream.h"
#include "terminal/text_filter.h"

namespace cordon::cli {

class OutputSink {
 public:
  // `raw`: all bytes reach a terminal, which is the caller's to ask for.
  OutputSink(const asio::any_io_executor& executor, bool json, bool raw);

  // `unavailable`: whoever read it has gone.
  async::Task<void> put(OutputPiece piece);
  // The last line, of JSON only.
  async::Task<void> put_end(std::string line);
  // What a filter still held.
  async::Task<void> finish();

 private:
  std::array<StandardStream, 2> streams_;
  std::array<bool, 2> is_filtered_;
  std::array<terminal::TextFilter, 2> filters_;
  bool json_;
};

}  // namespace cordon::cli
