// SPDX-License-Identifier: Apache-2.0
#include "sandbox/guest_link.h"

#include <array>
#include <span>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace cordon::sandbox {
namespace {

constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);
// A guest that sends more than its ring without an acknowledgement does not keep the protocol.
constexpr std::uint64_t kMostUnread = std::uint64_t{4} * frame::kDefaultRing;

std::size_t index_of(frame::Stream stream) { return stream == frame::Stream::out ? 0 : 1; }

Error protocol_error(std::string what) {
  return Error{Errc::unavailable, "agent_protocol_error: " + std::move(what)};
}

}  // namespace

GuestLink::GuestLink(const asio::any_io_executor& executor, os::Fd control)
    : executor_{executor},
      stream_{executor, control.release()},
      usage_news_{executor, asio::steady_timer::time_point::max()},
      outgoing_news_{executor, asio::steady_timer::time_point::max()} {
  send(frame::Resume{});
}

asio::awaitable<void> GuestLink::serve() {
  using namespace asio::experimental::awaitable_operators;
  const auto read_in = [](GuestLink& link) -> asio::awaitable<void> {
    // Not set to zero: no page is touched that no output fills.
    constexpr std::size_t kSize = std::size_t{128} << 10U;
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(kSize);
    const std::span buffer{memory.get(), kSize};
    while (!link.ended_) {
      const auto [error, count] =
          co_await link.stream_.async_read_some(asio::buffer(buffer.data(), buffer.size()), kQuiet);
      if (error) {
        link.end(Error{Errc::unavailable, "the sandbox has ended"});
      } else if (Status taken = link.take(buffer.first(count)); !taken) {
        link.end(std::move(taken).error());
      }
    }
  };
  co_await (read_in(*this) && write_out());
}

asio::awaitable<void> GuestLink::write_out() {
  while (!ended_) {
    if (outgoing_.empty()) {
      co_await outgoing_news_.async_wait(kQuiet);
      continue;
    }
    const std::string batch = std::exchange(outgoing_, {});
    const auto [error, count] = co_await asio::async_write(stream_, asio::buffer(batch), kQuiet);
    if (error) end(Error{Errc::unavailable, "the sandbox has ended"});
  }
}

void GuestLink::send(const frame::ToGuest& frame) {
  if (ended_) return;
  // A guest that reads nothing must not fill our memory.
  if (outgoing_.size() > kMostUnread) {
    return end(protocol_error("it does not read what it is sent"));
  }
  const std::vector<std::byte> bytes = frame::encode(frame);
  outgoing_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  outgoing_news_.cancel();
}

void GuestLink::end(Error why) {
  if (ended_) return;
  ended_ = std::move(why);
  boost::system::error_code ignored;
  stream_.close(ignored);
  outgoing_news_.cancel();
  usage_news_.cancel();
  for (auto& [process, channel] : channels_) {
    channel->news.cancel();
    channel->room.cancel();
  }
}

void GuestLink::close(std::string why) { end(Error{Errc::unavailable, std::move(why)}); }

Error GuestLink::why_ended() const {
  return ended_ ? *ended_ : Error{Errc::internal, "the sandbox has not ended"};
}

Status GuestLink::take(std::span<const std::byte> bytes) {
  cutter_.push(bytes);
  for (;;) {
    const auto next = cutter_.next();
    if (!next) return protocol_error(next.error().text());
    const auto& body = *next;
    if (!body) return {};
    auto frame = frame::decode_from_guest(*body);
    if (!frame) return protocol_error(frame.error().text());
    TRY_DO(handle(*std::move(frame)));
  }
}

Result<GuestLink::Channel*> GuestLink::channel(std::uint32_t process) {
  const auto found = channels_.find(process);
  if (found == channels_.end()) return protocol_error("a process that was never started");
  return found->second.get();
}

void GuestLink::push(Channel& to, ProcessEvent event) {
  to.events.push_back(std::move(event));
  to.news.cancel();
}

Status GuestLink::handle_output(frame::Output output) {
  TRY(Channel* const from, channel(output.process));
  const std::size_t index = index_of(output.stream);
  std::uint64_t& received = from->received[index];
  if (output.offset > received) return protocol_error("output with a gap");
  // After a Resume the guest repeats what we have but did not acknowledge.
  const std::uint64_t known = received - output.offset;
  if (known >= output.bytes.size()) return {};
  output.bytes.erase(0, known);
  output.offset = received;
  received += output.bytes.size();
  if (received - from->acknowledged[index] > kMostUnread) {
    return protocol_error("more output than was acknowledged room for");
  }
  push(*from, std::move(output));
  return {};
}

Status GuestLink::handle(frame::FromGuest frame) {
  struct Handler {
    GuestLink& link;
    Status operator()(const frame::Hello& hello) const {
      if (hello.version != frame::kGuestVersion) return protocol_error("an unknown version");
      return {};
    }
    Status operator()(frame::Failed failed) const {
      if (failed.process != 0) {
        TRY(Channel* const channel, link.channel(failed.process));
        if (channel->exited) return {};  // repeated after a Resume
        channel->exited = true;
        channel->room.cancel();
        push(*channel, std::move(failed));
        return {};
      }
      return Error::from_errno(failed.step, failed.error_number).with("cordon-init");
    }
    Status operator()(const frame::Started& started) const {
      TRY(Channel* const channel, link.channel(started.process));
      if (std::exchange(channel->started, true)) return {};  // repeated after a Resume
      push(*channel, started);
      return {};
    }
    Status operator()(frame::Output output) const { return link.handle_output(std::move(output)); }
    Status operator()(const frame::OutputEnd& end) const {
      TRY(Channel* const channel, link.channel(end.process));
      if (std::exchange(channel->stream_ended[index_of(end.stream)], true)) return {};
      push(*channel, end);
      return {};
    }
    Status operator()(const frame::InputTaken& taken) const {
      TRY(Channel* const channel, link.channel(taken.process));
      if (taken.offset > channel->input_sent) return protocol_error("input that was never sent");
      channel->input_taken = std::max(channel->input_taken, taken.offset);
      channel->room.cancel();
      return {};
    }
    Status operator()(const frame::Exited& exited) const {
      TRY(Channel* const channel, link.channel(exited.process));
      if (channel->exited) return {};  // repeated after a Resume
      channel->exited = true;
      channel->room.cancel();
      push(*channel, exited);
      return {};
    }
    Status operator()(const frame::Usage& usage) const {
      const auto asked = link.usages_.find(usage.request);
      if (asked == link.usages_.end()) return protocol_error("an answer to no question");
      asked->second = usage;
      link.usage_news_.cancel();
      return {};
    }
    Status operator()(const frame::FileReply&) const {
      return protocol_error("an answer to no question");
    }
  };
  return std::visit(Handler{*this}, std::move(frame));
}

std::uint32_t GuestLink::start(Command command) {
  const std::uint32_t process = next_process_++;
  auto made = std::make_unique<Channel>(executor_);
  made->news.expires_at(asio::steady_timer::time_point::max());
  made->room.expires_at(asio::steady_timer::time_point::max());
  channels_.emplace(process, std::move(made));
  send(frame::Start{.process = process,
                    .arguments = std::move(command.arguments),
                    .environment = std::move(command.environment),
                    .directory = std::move(command.directory),
                    .terminal = command.terminal,
                    .input = command.input});
  return process;
}

void GuestLink::acknowledge(std::uint32_t process, Channel& held) {
  if (held.pending) {
    held.acknowledged[index_of(held.pending->stream)] = held.pending->offset;
    send(*held.pending);
    held.pending.reset();
  }
  if (held.exit_pending) {
    send(frame::AcknowledgeExit{process});
    held.exit_pending = false;
  }
}

async::Task<ProcessEvent> GuestLink::next(std::uint32_t process) {
  CO_TRY(Channel* const from, channel(process));
  acknowledge(process, *from);
  while (from->events.empty()) {
    if (ended_) co_return why_ended();
    co_await from->news.async_wait(kQuiet);
  }
  ProcessEvent event = std::move(from->events.front());
  from->events.pop_front();
  if (const auto* output = std::get_if<frame::Output>(&event)) {
    from->pending =
        frame::Acknowledge{process, output->stream, output->offset + output->bytes.size()};
  }
  from->exit_pending =
      std::holds_alternative<frame::Exited>(event) || std::holds_alternative<frame::Failed>(event);
  co_return event;
}

async::Task<void> GuestLink::write(std::uint32_t process, std::string bytes, bool last) {
  CO_TRY(Channel* const to, channel(process));
  std::size_t at = 0;
  do {
    while (to->input_sent - to->input_taken >= frame::kInputWindow && !to->exited && !ended_) {
      co_await to->room.async_wait(kQuiet);
    }
    if (ended_) co_return why_ended();
    if (to->exited) co_return Error{Errc::unavailable, "the process has ended"};
    const std::size_t room = frame::kInputWindow - (to->input_sent - to->input_taken);
    const std::size_t count = std::min({bytes.size() - at, room, frame::kMostData});
    send(frame::Input{.process = process,
                      .offset = to->input_sent,
                      .bytes = bytes.substr(at, count),
                      .last = last && at + count == bytes.size()});
    to->input_sent += count;
    at += count;
  } while (at < bytes.size());
  co_return Status{};
}

void GuestLink::signal(std::uint32_t process, int number, frame::SignalTo to) {
  send(frame::Signal{process, static_cast<std::uint8_t>(number), to});
}

void GuestLink::resize(std::uint32_t process, frame::WindowSize size) {
  send(frame::Resize{process, size});
}

async::Task<frame::Usage> GuestLink::usage() {
  const std::uint32_t request = next_request_++;
  usages_.emplace(request, std::nullopt);
  send(frame::AskUsage{request});
  for (;;) {
    if (ended_) co_return why_ended();
    if (auto& answer = usages_.at(request); answer) {
      const frame::Usage usage = *answer;
      usages_.erase(request);
      co_return usage;
    }
    co_await usage_news_.async_wait(kQuiet);
  }
}

}  // namespace cordon::sandbox
