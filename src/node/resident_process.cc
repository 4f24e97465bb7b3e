// SPDX-License-Identifier: Apache-2.0
#include "node/resident_process.h"

#include <algorithm>

#include <fmt/format.h>

#include "async/deadline.h"
#include "async/waiting.h"

namespace cordon::node {
namespace {

// For the guest to say again what it had said to another node.
constexpr std::chrono::seconds kRepeated{2};

std::size_t index_of(frame::Stream stream) { return static_cast<std::size_t>(stream); }

std::string_view name_of(std::size_t stream) { return stream == 0 ? "stdout" : "stderr"; }

}  // namespace

ResidentProcess::ResidentProcess(const asio::any_io_executor& executor, ProcessFacts facts,
                                 std::unique_ptr<sandbox::Process> process)
    : facts_{std::move(facts)},
      process_{std::move(process)},
      news_{executor, asio::steady_timer::time_point::max()},
      written_{facts_.acknowledged},
      ended_{false, facts_.has_terminal} {
  for (std::size_t stream = 0; stream < held_.size(); ++stream) {
    held_[stream].begin = facts_.acknowledged[stream];
  }
}

void ResidentProcess::tell() { news_.cancel(); }

asio::awaitable<void> ResidentProcess::news() { co_await news_.async_wait(async::kQuiet); }

void ResidentProcess::take(sandbox::ProcessEvent event) {
  if (const auto* started = std::get_if<frame::Started>(&event)) {
    pid_ = started->pid;
  } else if (const auto* failed = std::get_if<frame::Failed>(&event)) {
    failed_ = *failed;
    failure_ = Error::from_errno(failed->step, failed->error_number).text();
    is_over_ = true;
  } else if (auto* output = std::get_if<frame::Output>(&event)) {
    const std::size_t stream = index_of(output->stream);
    held_[stream].bytes += output->bytes;
    written_[stream] += output->bytes.size();
    if (written_told_) written_told_(output->bytes.size());
  } else if (const auto* end = std::get_if<frame::OutputEnd>(&event)) {
    ended_[index_of(end->stream)] = true;
  } else if (const auto* exited = std::get_if<frame::Exited>(&event)) {
    exited_ = *exited;
  }
  tell();
}

asio::awaitable<void> ResidentProcess::follow() {
  while (!is_over_) {
    auto event = co_await process_->next();
    if (!event) {
      if (!exited_) failure_ = event.error().text();
      is_over_ = true;
      break;
    }
    take(*std::move(event));
    if (exited_ && ended_[0] && ended_[1]) is_over_ = true;
  }
  tell();
}

std::optional<ResidentProcess::Piece> ResidentProcess::read(const Offsets& at,
                                                            std::size_t most) const {
  for (std::size_t stream = 0; stream < held_.size(); ++stream) {
    if (at[stream] >= written_[stream]) continue;
    // What another reader acknowledged is gone. Its place in the stream tells this one so.
    const std::uint64_t from = std::max(at[stream], held_[stream].begin);
    if (from >= written_[stream]) continue;
    const auto skipped = static_cast<std::size_t>(from - held_[stream].begin);
    return Piece{static_cast<frame::Stream>(stream), from,
                 std::string_view{held_[stream].bytes}.substr(skipped, most)};
  }
  return std::nullopt;
}

async::Task<void> ResidentProcess::reach(Offsets at) {
  while (!is_over_ && (written_[0] < at[0] || written_[1] < at[1])) co_await news();
  co_return Status{};
}

asio::awaitable<void> ResidentProcess::catch_up(Offsets at) {
  if (!facts_.is_adopted) co_return;
  static_cast<void>(co_await async::within(kRepeated, reach(at)));
}

Status ResidentProcess::can_read_from(const Offsets& at) const {
  for (std::size_t stream = 0; stream < held_.size(); ++stream) {
    if (at[stream] < held_[stream].begin) {
      return Error{Errc::exhausted,
                   fmt::format("{} from byte {}: all before byte {} was acknowledged and is gone",
                               name_of(stream), at[stream], held_[stream].begin)};
    }
    if (at[stream] > written_[stream]) {
      return Error{Errc::invalid, fmt::format("{} from byte {}: only {} bytes were written so far",
                                              name_of(stream), at[stream], written_[stream])};
    }
  }
  return {};
}

Status ResidentProcess::acknowledge(const Offsets& at) {
  for (std::size_t stream = 0; stream < held_.size(); ++stream) {
    if (at[stream] > written_[stream]) {
      return Error{Errc::invalid,
                   fmt::format("{}: byte {} cannot be acknowledged, {} were written so far",
                               name_of(stream), at[stream], written_[stream])};
    }
  }
  for (std::size_t stream = 0; stream < held_.size(); ++stream) {
    Held& held = held_[stream];
    if (at[stream] <= held.begin) continue;
    held.bytes.erase(0, static_cast<std::size_t>(at[stream] - held.begin));
    held.begin = at[stream];
    process_->acknowledge(static_cast<frame::Stream>(stream), at[stream]);
  }
  return {};
}

}  // namespace cordon::node
