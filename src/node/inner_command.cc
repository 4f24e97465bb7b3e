// SPDX-License-Identifier: Apache-2.0
#include "node/inner_command.h"

#include <csignal>
#include <utility>

#include "async/deadline.h"

namespace cordon::node {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

async::Task<void> hear_all(std::shared_ptr<ResidentProcess> process, OutputEar* ear) {
  Offsets at = process->held_from();
  for (;;) {
    while (const auto piece = process->read(at, kPiece)) {
      std::string bytes{piece->bytes};
      const frame::Stream stream = piece->stream;
      at[static_cast<std::size_t>(stream)] = piece->offset + bytes.size();
      CO_TRY_DO(process->acknowledge(at));
      CO_TRY_DO(co_await ear->hear(stream, std::move(bytes)));
    }
    // What it leaves behind in the background may hold its streams for ever.
    if (process->is_over() || process->exited()) co_return Status{};
    co_await process->news();
  }
}

}  // namespace

async::Task<int> run_inside(std::shared_ptr<Resident> resident, sandbox::Command command,
                            OutputEar& ear, std::chrono::milliseconds limit) {
  command.input = false;
  CO_TRY(const auto process, resident->start(std::move(command)));
  const Status heard = co_await async::within(limit, hear_all(process, &ear));
  if (!heard) {
    process->signal(SIGKILL, frame::SignalTo::group);
    co_return heard.error();
  }
  const auto& exited = process->exited();
  if (!exited) {
    const std::string& failure = process->failure();
    co_return Error{Errc::unavailable, failure.empty() ? "the sandbox has ended" : failure};
  }
  if (process->is_over()) process->forget();
  const int value = static_cast<int>(exited->value);
  co_return exited->by_signal ? 128 + value : value;
}

}  // namespace cordon::node
