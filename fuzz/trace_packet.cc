// SPDX-License-Identifier: Apache-2.0
// Any bytes as a packet of an engine's trace session: refused, or an act within its bounds that is
// passed on as it was read and told as a record. Whoever has taken an engine over writes them.
#include "relay/trace_packet.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "audit/record.h"
#include "frame/guest.h"
#include "monitor/told.h"
#include "monitor/traced.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace audit = cordon::audit;
namespace frame = cordon::frame;

void hold_to_bounds(const frame::TracedAct& act) {
  std::size_t arguments = 0;
  for (const std::string& each : act.arguments) arguments += each.size();
  if (act.path.size() > frame::kLongestTracedPath || act.base.size() > frame::kLongestTracedPath ||
      act.directory.size() > frame::kLongestTracedPath || arguments > frame::kMostTracedArguments ||
      act.arguments.size() > frame::kMostTracedArguments) {
    broken("an act is within its bounds");
  }
}

void pass_on(const frame::TracedAct& act) {
  const frame::FromGuest said{frame::Traced{.acts = {act}}};
  const auto framed = encode(said);
  const auto again = frame::decode_from_guest(std::span{framed}.subspan(4));
  if (!again || *again != said) broken("an act is read as it was passed on");
}

void record(const frame::TracedAct& act) {
  const auto told = cordon::monitor::told_of(cordon::monitor::seen_of(act), {});
  if (!told) return;
  const audit::Record record{.number = 7,
                             .time = {},
                             .ticks = 7,
                             .before = {},
                             .subject = {.tenant = "acme", .sandbox = "k7f3"},
                             .event = *told,
                             .cuts = {}};
  if (!audit::decode(audit::encode(record))) broken("what is told is a record");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  static_cast<void>(cordon::relay::check_handshake(bytes));
  const auto packet = cordon::relay::read_trace_packet(bytes);
  if (!packet) return 0;
  const auto* const act = std::get_if<frame::TracedAct>(&packet->what);
  if (act == nullptr) return 0;
  hold_to_bounds(*act);
  pass_on(*act);
  record(*act);
  return 0;
}
