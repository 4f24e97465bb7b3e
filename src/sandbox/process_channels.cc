// SPDX-License-Identifier: Apache-2.0
// The caller's side; what the guest says is in process_frames.cc.
#include "sandbox/process_channels.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "async/waiting.h"

namespace cordon::sandbox {
namespace {

Error unknown() { return Error{Errc::not_found, "the sandbox has no such process"}; }

}  // namespace

ProcessChannels::Channel::Channel(const asio::any_io_executor& executor)
    : news{executor, async::kNever}, room{executor, async::kNever} {}

bool ProcessChannels::Channel::is_over() const noexcept {
  const auto is_finished = [this](std::size_t index) {
    return stream_ended[index] && acknowledged[index] == received[index];
  };
  return exit_acknowledged && (failed || (is_finished(0) && (terminal || is_finished(1))));
}

ProcessChannels::ProcessChannels(asio::any_io_executor executor, Outbox& outbox, Origin origin)
    : executor_{std::move(executor)},
      outbox_{outbox},
      origin_{origin},
      known_news_{executor_, async::kNever} {}

ProcessChannels::Held ProcessChannels::make(std::uint32_t process) {
  return channels_.emplace(process, std::make_shared<Channel>(executor_)).first->second;
}

ProcessChannels::Held ProcessChannels::find(std::uint32_t process) const {
  const auto found = channels_.find(process);
  return found == channels_.end() ? nullptr : found->second;
}

std::uint32_t ProcessChannels::start(Command command) {
  // A number that the guest knows already would be its end.
  const bool too_early = origin_ == Origin::fetched && !known_;
  const bool too_many = next_ > frame::kLastProcess;
  const std::uint32_t process = too_early ? 0 : next_++;
  const Held channel = make(process);
  channel->acknowledging = command.acknowledging;
  channel->terminal = command.terminal.has_value();
  channel->input_ended = !command.input;
  if (too_early || too_many) {
    channel->exited = channel->failed = true;
    push(*channel, frame::Failed{.process = process, .step = "start", .error_number = EAGAIN});
    return process;
  }
  outbox_.send(frame::Start{.process = process,
                            .arguments = std::move(command.arguments),
                            .environment = std::move(command.environment),
                            .directory = std::move(command.directory),
                            .terminal = command.terminal,
                            .input = command.input,
                            .as_root = command.as_root});
  return process;
}

void ProcessChannels::expect_standby() {
  const Held channel = make(frame::kStandby);
  channel->acknowledging = Acknowledging::by_caller;
  next_ = frame::kStandby + 1;
}

async::Task<frame::Processes> ProcessChannels::known() {
  while (!known_) {
    if (outbox_.ended()) co_return outbox_.why();
    co_await known_news_.async_wait(async::kQuiet);
  }
  co_return *known_;
}

bool ProcessChannels::adopt(std::uint32_t process, Acknowledging acknowledging) {
  const Held channel = find(process);
  if (!channel || process == 0) return false;
  channel->acknowledging = acknowledging;
  return true;
}

void ProcessChannels::leave(std::uint32_t process) {
  const Held channel = find(process);
  if (!channel) return;
  if (channel->acknowledging == Acknowledging::by_next) acknowledge_held(process, *channel);
  if (channel->is_over()) channels_.erase(process);
}

void ProcessChannels::acknowledge(std::uint32_t process, frame::Stream stream,
                                  std::uint64_t offset) {
  const Held channel = find(process);
  if (!channel) return;
  const std::size_t index = index_of(stream);
  // What was never received is nobody's to acknowledge: the guest would end.
  offset = std::min(offset, channel->received[index]);
  if (offset <= channel->acknowledged[index]) return;
  channel->acknowledged[index] = offset;
  outbox_.send(frame::Acknowledge{process, stream, offset});
}

void ProcessChannels::acknowledge_exit(std::uint32_t process) {
  if (const Held channel = find(process)) acknowledge_exit(process, *channel);
}

void ProcessChannels::acknowledge_exit(std::uint32_t process, Channel& channel) {
  if (!channel.exited || std::exchange(channel.exit_acknowledged, true)) return;
  outbox_.send(frame::AcknowledgeExit{process});
}

void ProcessChannels::acknowledge_held(std::uint32_t process, Channel& channel) {
  if (const auto output = std::exchange(channel.held, std::nullopt)) {
    acknowledge(process, output->stream, channel.held_end);
  }
  if (std::exchange(channel.exit_held, false)) acknowledge_exit(process, channel);
}

async::Task<ProcessEvent> ProcessChannels::next(std::uint32_t process) {
  const Held from = find(process);
  if (!from) co_return unknown();
  if (from->acknowledging == Acknowledging::by_next) acknowledge_held(process, *from);
  while (from->events.empty()) {
    if (outbox_.ended()) co_return outbox_.why();
    co_await from->news.async_wait(async::kQuiet);
  }
  ProcessEvent event = std::move(from->events.front());
  from->events.pop_front();
  if (const auto* output = std::get_if<frame::Output>(&event)) {
    from->held = frame::Output{.stream = output->stream};
    from->held_end = output->offset + output->bytes.size();
  }
  from->exit_held =
      std::holds_alternative<frame::Exited>(event) || std::holds_alternative<frame::Failed>(event);
  co_return event;
}

async::Task<void> ProcessChannels::write(std::uint32_t process, std::string bytes, bool last) {
  const Held to = find(process);
  if (!to) co_return unknown();
  std::size_t at = 0;
  do {
    while (to->input_sent - to->input_taken >= frame::kInputWindow && !to->exited &&
           !outbox_.ended()) {
      co_await to->room.async_wait(async::kQuiet);
    }
    co_await outbox_.room();
    if (outbox_.ended()) co_return outbox_.why();
    if (to->exited) co_return Error{Errc::unavailable, "the process has ended"};
    if (to->input_ended) co_return Error{Errc::unavailable, "the input of the process has ended"};
    const std::uint64_t unconfirmed = to->input_sent - to->input_taken;
    if (unconfirmed >= frame::kInputWindow) continue;  // another writer was quicker
    const std::size_t count = std::min<std::size_t>(
        {bytes.size() - at, frame::kInputWindow - unconfirmed, frame::kMostData});
    to->input_ended = last && at + count == bytes.size();
    outbox_.send(frame::Input{.process = process,
                              .offset = to->input_sent,
                              .bytes = bytes.substr(at, count),
                              .last = to->input_ended});
    to->input_sent += count;
    at += count;
  } while (at < bytes.size());
  co_return Status{};
}

void ProcessChannels::signal(std::uint32_t process, int number, frame::SignalTo to) {
  outbox_.send(frame::Signal{process, static_cast<std::uint8_t>(number), to});
}

// Of no process: there may be none that was started from here.
void ProcessChannels::signal_all(int number) { signal(0, number, frame::SignalTo::all); }

void ProcessChannels::resize(std::uint32_t process, frame::WindowSize size) {
  outbox_.send(frame::Resize{process, size});
}

void ProcessChannels::end() {
  known_news_.cancel();
  for (const auto& [process, channel] : channels_) {
    channel->news.cancel();
    channel->room.cancel();
  }
}

}  // namespace cordon::sandbox
