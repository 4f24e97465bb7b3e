// SPDX-License-Identifier: Apache-2.0
#include "cli/output_sink.h"

namespace cordon::cli {

OutputSink::OutputSink(const asio::any_io_executor& executor, bool json, bool raw)
    : streams_{StandardStream{executor, 1, os::Ready::write},
               StandardStream{executor, 2, os::Ready::write}},
      is_filtered_{!raw && os::is_standard_terminal(1), !raw && os::is_standard_terminal(2)},
      json_{json} {}

async::Task<void> OutputSink::put(OutputPiece piece) {
  if (json_) co_return co_await streams_[0].write(output_line_of(piece) + '\n');
  const std::size_t stream = piece.is_error ? 1 : 0;
  if (is_filtered_[stream]) {
    std::string shown;
    filters_[stream].feed(piece.bytes, shown);
    piece.bytes = std::move(shown);
  }
  co_return co_await streams_[stream].write(std::move(piece.bytes));
}

async::Task<void> OutputSink::put_end(std::string line) {
  if (!json_) co_return Status{};
  co_return co_await streams_[0].write(std::move(line) + '\n');
}

async::Task<void> OutputSink::finish() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    if (!is_filtered_[stream]) continue;
    std::string shown;
    filters_[stream].finish(shown);
    CO_TRY_DO(co_await streams_[stream].write(std::move(shown)));
  }
  co_return Status{};
}

}  // namespace cordon::cli
