// SPDX-License-Identifier: Apache-2.0
// Kinds and fields are those of gVisor's pkg/sentry/seccheck/points/*.proto.
#include "relay/trace_packet.h"

#include <algorithm>
#include <fcntl.h>

#include "base/bytes.h"
#include "os/filter/judged_call.h"
#include "relay/protobuf.h"

namespace cordon::relay {
namespace {

// NOLINTNEXTLINE(performance-enum-size): as wide as on the wire
enum class Kind : std::uint16_t {
  clone = 2,
  exit_notify_parent = 4,
  raw = 6,
  open = 7,
  connect = 10,
  exec = 11,
};

std::string text_of(const ProtobufField& field, std::size_t longest) {
  return std::string{as_text(field.bytes.first(std::min(field.bytes.size(), longest)))};
}

// A number that is wider than it may be stands for none.
std::uint32_t narrow(std::uint64_t value) {
  return value > UINT32_MAX ? 0 : static_cast<std::uint32_t>(value);
}

template <class Take>
Status each_field(std::span<const std::byte> message, Take take) {
  ProtobufReader reader{message};
  while (true) {
    TRY(const auto field, reader.next());
    if (!field) return {};
    TRY_DO(take(*field));
  }
}

struct Context {
  std::uint32_t pid = 0;
  std::string directory;
};

Result<Context> read_context(const ProtobufField& field) {
  Context context;
  TRY_DO(each_field(field.bytes, [&](const ProtobufField& part) -> Status {
    if (part.number == 4) context.pid = narrow(part.value);
    if (part.number == 8) context.directory = text_of(part, frame::kLongestTracedPath);
    return {};
  }));
  return context;
}

Result<std::uint32_t> read_error(const ProtobufField& field) {
  std::uint32_t number = 0;
  TRY_DO(each_field(field.bytes, [&](const ProtobufField& part) -> Status {
    if (part.number == 2) number = narrow(part.value);
    return {};
  }));
  return number;
}

Result<TracedClone> read_clone(std::span<const std::byte> message) {
  TracedClone clone;
  TRY_DO(each_field(message, [&](const ProtobufField& field) -> Status {
    if (field.number == 1) {
      TRY(const Context context, read_context(field));
      clone.by = context.pid;
    }
    if (field.number == 4) clone.made = narrow(field.value);
    return {};
  }));
  return clone;
}

Result<TracedEnd> read_end(std::span<const std::byte> message) {
  TracedEnd end;
  TRY_DO(each_field(message, [&](const ProtobufField& field) -> Status {
    if (field.number != 1) return {};
    TRY(const Context context, read_context(field));
    end.pid = context.pid;
    return {};
  }));
  return end;
}

// Where the flags of an open stand among its arguments, which are the fields from 5 on.
std::uint32_t flags_in(std::uint32_t call, const std::array<std::uint64_t, 6>& arguments) {
  const std::string_view name = os::call_name(call);
  if (name == "openat") return static_cast<std::uint32_t>(arguments[2]);
  if (name == "open") return static_cast<std::uint32_t>(arguments[1]);
  if (name == "creat") return O_CREAT | O_WRONLY | O_TRUNC;
  return 0;
}

Result<TracedNumber> read_number(std::span<const std::byte> message) {
  TracedNumber number;
  std::array<std::uint64_t, 6> arguments{};
  TRY_DO(each_field(message, [&](const ProtobufField& field) -> Status {
    if (field.number == 2) {
      TRY(number.error_number, read_error(field));
    }
    if (field.number == 4) number.call = narrow(field.value);
    if (field.number >= 5 && field.number <= 10) arguments.at(field.number - 5) = field.value;
    return {};
  }));
  number.flags = flags_in(number.call, arguments);
  return number;
}

// All of them together are bounded, and the last may be cut.
void add_argument(frame::TracedAct& act, const ProtobufField& field, std::size_t& room) {
  if (room == 0) return;
  act.arguments.push_back(text_of(field, room));
  // Each is told with its end, so that a list of empty ones has an end too.
  room -= std::min(room, act.arguments.back().size() + 1);
}

Result<frame::TracedAct> read_act(frame::TracedKind kind, std::span<const std::byte> message) {
  using frame::TracedKind;
  frame::TracedAct act{.kind = kind};
  std::size_t room = frame::kMostTracedArguments;
  TRY_DO(each_field(message, [&](const ProtobufField& field) -> Status {
    switch (field.number) {
      case 1: {
        TRY(Context context, read_context(field));
        act.pid = context.pid;
        act.directory = std::move(context.directory);
        return {};
      }
      case 2: {
        TRY(act.error_number, read_error(field));
        return {};
      }
      case 3:
        act.call = narrow(field.value);
        return {};
      case 5:
        act.base = text_of(field, frame::kLongestTracedPath);
        return {};
      case 6:
        act.path = text_of(field, kind == TracedKind::connect ? frame::kLongestTracedAddress
                                                              : frame::kLongestTracedPath);
        return {};
      case 7:
        if (kind == TracedKind::open) act.flags = narrow(field.value);
        if (kind == TracedKind::exec) add_argument(act, field, room);
        return {};
      default:
        return {};
    }
  }));
  return act;
}

Result<TracePacket> read_message(std::uint16_t kind, std::span<const std::byte> message) {
  TracePacket packet;
  switch (static_cast<Kind>(kind)) {
    case Kind::clone: {
      TRY(packet.what, read_clone(message));
      return packet;
    }
    case Kind::exit_notify_parent: {
      TRY(packet.what, read_end(message));
      return packet;
    }
    case Kind::raw: {
      TRY(packet.what, read_number(message));
      return packet;
    }
    case Kind::open: {
      TRY(packet.what, read_act(frame::TracedKind::open, message));
      return packet;
    }
    case Kind::connect: {
      TRY(packet.what, read_act(frame::TracedKind::connect, message));
      return packet;
    }
    case Kind::exec: {
      TRY(packet.what, read_act(frame::TracedKind::exec, message));
      return packet;
    }
  }
  return packet;
}

}  // namespace

Status check_handshake(std::span<const std::byte> packet) {
  std::uint64_t version = 0;
  TRY_DO(each_field(packet, [&](const ProtobufField& field) -> Status {
    if (field.number == 1) version = field.value;
    return {};
  }));
  if (version == 0) return Error{Errc::invalid, "a handshake without a version"};
  return {};
}

Result<TracePacket> read_trace_packet(std::span<const std::byte> packet) {
  ByteReader head{packet};
  TRY(const auto size, head.integer<std::uint16_t>());
  TRY(const auto kind, head.integer<std::uint16_t>());
  TRY(const auto dropped, head.integer<std::uint32_t>());
  // A later version may have more in its head.
  constexpr std::size_t kLeastHead = 8;
  if (size < kLeastHead || size > packet.size()) {
    return Error{Errc::invalid, "a packet with a head of another size"};
  }
  TRY(TracePacket read, read_message(kind, packet.subspan(size)));
  read.dropped = dropped;
  return read;
}

}  // namespace cordon::relay
