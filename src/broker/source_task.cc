// SPDX-License-Identifier: Apache-2.0
#include "broker/source_task.h"

#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/wiped.h"
#include "frame/broker.h"
#include "os/file.h"
#include "os/socket.h"

namespace cordon::broker {
namespace {

constexpr std::pair<std::string_view, policy::SecretSource> kKinds[] = {
    {"env:", policy::SecretSource::env},
    {"file:", policy::SecretSource::file},
    {"cmd:", policy::SecretSource::cmd},
};

Result<WipedBytes> read_named(std::string_view named, const source::Surroundings& surroundings) {
  for (const auto& [prefix, kind] : kKinds) {
    if (!named.starts_with(prefix)) continue;
    return source::read_secret(kind, std::string{named.substr(prefix.size())}, surroundings);
  }
  return Error{Errc::invalid, "a source is env:NAME, file:/PATH or cmd:COMMAND"};
}

}  // namespace

Status read_for_broker(const os::Fd& task, const os::Fd& broker,
                       const source::Surroundings& surroundings) {
  TRY(const std::string text, os::read_all(task, frame::kLongestBrokerMessage));
  TRY(const frame::LauncherToSource message, frame::decode_launcher_to_source(as_bytes(text)));
  const auto& wanted = std::get<frame::SourceTask>(message);
  const auto secret = read_named(wanted.source, surroundings);
  WipedBytes memory(frame::kLongestBrokerMessage);
  const frame::SourceToBroker said =
      secret ? frame::SourceToBroker{frame::SourceRead{wanted.ticket, wanted.host, {*secret}}}
             : frame::SourceToBroker{frame::SourceFailed{wanted.ticket, secret.error().text()}};
  TRY(const auto bytes, frame::encode_into(memory, said));
  TRY(const std::size_t sent, os::send(broker, bytes));
  if (sent != bytes.size()) return Error{Errc::unavailable, "the broker took a part of it"};
  return {};
}

}  // namespace cordon::broker
