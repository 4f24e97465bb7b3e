// SPDX-License-Identifier: Apache-2.0
// What the guest says of its processes. A frame that a guest of ours never sends ends the link.
#include <algorithm>
#include <utility>

#include "sandbox/process_channels.h"

namespace cordon::sandbox {
namespace {

// A guest that sends more than its ring without an acknowledgement does not keep the protocol.
constexpr std::uint64_t kMostUnread = std::uint64_t{4} * frame::kDefaultRing;

}  // namespace

// A frame may cross our last acknowledgement: of one that is forgotten nothing is wanted any more.
Result<ProcessChannels::Held> ProcessChannels::told_of(std::uint32_t process) const {
  if (process == 0 || process >= next_) return protocol_error("a process that was never started");
  return find(process);
}

void ProcessChannels::push(Channel& to, ProcessEvent event) {
  to.events.push_back(std::move(event));
  to.news.cancel();
}

// Where the link has started all processes itself the list says nothing new.
Status ProcessChannels::take(const frame::Processes& told) {
  if (known_ || origin_ == Origin::launched) {
    for (const frame::KnownProcess& each : told.known) TRY_DO(told_of(each.process));
    if (!known_) known_ = told;
    known_news_.cancel();
    return {};
  }
  if (told.highest > frame::kLastProcess) return protocol_error("a process number without a next");
  next_ = told.highest + 1;
  for (const frame::KnownProcess& each : told.known) TRY_DO(take_known(each));
  known_ = told;
  known_news_.cancel();
  return {};
}

Status ProcessChannels::take_known(const frame::KnownProcess& known) {
  TRY(const Held other, told_of(known.process));
  if (other) return protocol_error("a process that is named twice");
  const Held channel = make(known.process);
  channel->terminal = known.terminal;
  channel->received[0] = channel->acknowledged[0] = known.out_acknowledged;
  channel->received[1] = channel->acknowledged[1] = known.err_acknowledged;
  channel->exited = channel->exit_acknowledged = known.end_acknowledged;
  channel->input_sent = known.input_given;
  channel->input_ended = known.input_ended;
  return {};
}

Status ProcessChannels::take(const frame::Started& started) {
  TRY(const Held channel, told_of(started.process));
  // Repeated after a Resume.
  if (!channel || std::exchange(channel->started, true)) return {};
  push(*channel, started);
  return {};
}

Status ProcessChannels::take(frame::Output output) {
  TRY(const Held from, told_of(output.process));
  if (!from) return {};
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

Status ProcessChannels::take(const frame::OutputEnd& end) {
  TRY(const Held channel, told_of(end.process));
  if (!channel || std::exchange(channel->stream_ended[index_of(end.stream)], true)) return {};
  push(*channel, end);
  return {};
}

Status ProcessChannels::take(const frame::InputTaken& taken) {
  TRY(const Held channel, told_of(taken.process));
  if (!channel) return {};
  if (taken.offset > channel->input_sent) return protocol_error("input that was never sent");
  channel->input_taken = std::max(channel->input_taken, taken.offset);
  channel->room.cancel();
  return {};
}

Status ProcessChannels::take(const frame::Exited& exited) {
  TRY(const Held channel, told_of(exited.process));
  if (!channel || std::exchange(channel->exited, true)) return {};
  channel->room.cancel();
  push(*channel, exited);
  return {};
}

Status ProcessChannels::take(frame::Failed failed) {
  if (failed.process == 0) {
    return Error::from_errno(failed.step, failed.error_number).with("cordon-init");
  }
  TRY(const Held channel, told_of(failed.process));
  if (!channel || std::exchange(channel->exited, true)) return {};
  channel->failed = true;
  channel->room.cancel();
  push(*channel, std::move(failed));
  return {};
}

}  // namespace cordon::sandbox
