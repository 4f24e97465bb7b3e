// SPDX-License-Identifier: Apache-2.0
#include "broker/arrivals.h"

#include <algorithm>
#include <cstring>

namespace cordon::broker {
namespace {

std::uint64_t ticket_of(const frame::SourceToBroker& message) {
  return std::visit([](const auto& each) { return each.ticket; }, message);
}

Result<os::LockedMemory> secret_of(const frame::SourceToBroker& message) {
  if (const auto* failed = std::get_if<frame::SourceFailed>(&message)) {
    return Error{Errc::unavailable, failed->text};
  }
  const auto bytes = std::get<frame::SourceRead>(message).secret.bytes;
  TRY(os::LockedMemory memory, os::LockedMemory::create(bytes.size()));
  std::memcpy(memory.bytes().data(), bytes.data(), bytes.size());
  return memory;
}

}  // namespace

void Arrivals::put(const frame::SourceToBroker& message, Ticks now) {
  const std::uint64_t ticket = ticket_of(message);
  if (const auto found = arrived_.find(ticket); found != arrived_.end()) {
    found->second.secret = Error{Errc::unavailable, "two sources were read for one ticket"};
    return;
  }
  if (arrived_.size() == kMost) return;
  const auto* read = std::get_if<frame::SourceRead>(&message);
  arrived_.emplace(ticket, Arrived{.host = read != nullptr ? read->host : std::string{},
                                   .secret = secret_of(message),
                                   .until = now + kPatience});
}

Result<os::LockedMemory> Arrivals::take(std::uint64_t ticket, const std::string& host) {
  auto found = arrived_.extract(ticket);
  if (found.empty()) return Error{Errc::timeout, "the source has not been read yet"};
  Arrived& arrived = found.mapped();
  if (arrived.secret && arrived.host != host) {
    return Error{Errc::denied, "the source was read for another host"};
  }
  return std::move(arrived.secret);
}

std::optional<Ticks> Arrivals::expire(Ticks now) {
  std::erase_if(arrived_, [now](const auto& each) { return each.second.until <= now; });
  const auto next =
      std::ranges::min_element(arrived_, {}, [](const auto& each) { return each.second.until; });
  if (next == arrived_.end()) return std::nullopt;
  return next->second.until;
}

}  // namespace cordon::broker
