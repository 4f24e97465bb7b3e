// SPDX-License-Identifier: Apache-2.0
#include "notary/serve.h"

#include <vector>

#include "os/socket.h"

namespace cordon::notary {
namespace {

frame::FromNotary answer_to(Notary& notary, const frame::SignHead& wanted) {
  auto head = notary.sign(wanted);
  if (!head) return frame::NotSigned{head.error().text()};
  return frame::HeadSigned{encode(*head)};
}

Status say(const os::Fd& node, const frame::FromNotary& message) {
  const auto sent = os::send(node, frame::encode(message));
  return sent ? Status{} : Status{sent.error()};
}

}  // namespace

Status serve(Notary& notary, const os::Fd& node) {
  TRY_DO(say(node, notary.ready()));
  std::vector<std::byte> room(frame::kLongestNotaryMessage);
  while (true) {
    TRY(const os::Received got, os::receive(node, room, 0));
    if (got.bytes == 0) return {};
    TRY(const frame::ToNotary message, frame::decode_to_notary(std::span{room}.first(got.bytes)));
    TRY_DO(say(node, answer_to(notary, std::get<frame::SignHead>(message))));
  }
}

}  // namespace cordon::notary
