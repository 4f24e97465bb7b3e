// SPDX-License-Identifier: Apache-2.0
#include "mcp/serve.h"

#include <memory>
#include <variant>
#include <vector>

#include "frame/guest.h"
#include "mcp/filter_frame.h"
#include "mcp/gate.h"
#include "mcp/tool_policy.h"

namespace cordon::mcp {
namespace {

class Session {
 public:
  explicit Session(const Clock& clock) : clock_{clock} {}

  Result<std::vector<FromFilter>> take(const ToFilter& frame) {
    if (const auto* const setup = std::get_if<Setup>(&frame)) {
      if (gate_) return Error{Errc::invalid, "a second setup"};
      TRY(policy::Policy policy, policy_of(setup->documents));
      gate_ = std::make_unique<Gate>(*setup, std::move(policy));
      return std::vector<FromFilter>{};
    }
    if (!gate_) return Error{Errc::invalid, "bytes before the setup"};
    const Ticks now = clock_.ticks();
    if (const auto* const client = std::get_if<FromClient>(&frame))
      return gate_->from_client(client->bytes, now);
    return gate_->from_server(std::get<FromServer>(frame).bytes, now);
  }

 private:
  const Clock& clock_;
  std::unique_ptr<Gate> gate_;
};

Status answer(const Streams& streams, std::vector<FromFilter> acts) {
  acts.emplace_back(Done{});
  std::vector<std::byte> bytes;
  for (const FromFilter& act : acts) {
    const std::vector<std::byte> one = encode(act);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return streams.write(bytes);
}

}  // namespace

Status serve(const Streams& streams, const Clock& clock) {
  Session session{clock};
  frame::FrameCutter cutter{kLongestFrame};
  std::vector<std::byte> buffer(std::size_t{64} << 10U);
  while (true) {
    TRY(const auto body, cutter.next());
    if (!body) {
      TRY(const std::size_t count, streams.read(buffer));
      if (count == 0) return {};
      cutter.push(std::span{buffer}.first(count));
      continue;
    }
    TRY(const ToFilter frame, decode_to_filter(*body));
    TRY(std::vector<FromFilter> acts, session.take(frame));
    TRY_DO(answer(streams, std::move(acts)));
  }
}

}  // namespace cordon::mcp
