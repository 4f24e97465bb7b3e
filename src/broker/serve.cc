// SPDX-License-Identifier: Apache-2.0
#include "broker/serve.h"

#include <algorithm>
#include <chrono>

#include "base/wiped.h"
#include "os/socket.h"

namespace cordon::broker {
namespace {

std::string_view code_of(const Error& error) {
  switch (error.code()) {
    case Errc::invalid:
      return "malformed";
    case Errc::exists:
      return "exists";
    case Errc::exhausted:
      return "exhausted";
    case Errc::not_found:
      return "not_found";
    case Errc::denied:
      return "denied";
    case Errc::timeout:
      return "pending";
    default:
      return "unavailable";
  }
}

Error no_store() { return Error{Errc::unavailable, "there is no store of secrets here"}; }

frame::GrantRefused refused_secret(const std::string& name, const Error& error) {
  return {.grant = name, .code = std::string{code_of(error)}, .text = error.text()};
}

// Nothing of a message outlives the turn in which it was read.
class Wiping {
 public:
  explicit Wiping(std::span<std::byte> bytes) : bytes_{bytes} {}
  Wiping(const Wiping&) = delete;
  Wiping& operator=(const Wiping&) = delete;
  ~Wiping() { wipe(bytes_); }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace

Result<Server> Server::create(os::Fd owner, const Clock& clock) {
  TRY(os::Epoll epoll, os::Epoll::create());
  TRY_DO(os::set_nonblocking(owner, true));
  TRY_DO(epoll.add(owner, EPOLLIN, kOwner));
  TRY(os::LockedMemory in, os::LockedMemory::create(frame::kLongestBrokerMessage));
  TRY(os::LockedMemory out, os::LockedMemory::create(frame::kLongestBrokerMessage));
  return Server{std::move(owner), clock, std::move(epoll), std::move(in), std::move(out)};
}

Status Server::add_egress(os::Fd egress, std::string tenant) {
  if (egresses_.size() == kMostEgresses) return Error{Errc::exhausted, "too many egresses"};
  if (tenant.empty()) return Error{Errc::invalid, "an egress serves a tenant"};
  // Only a Unix socket has a peer with an id: no file gets in here.
  if (!os::peer_credentials(egress)) return Error{Errc::invalid, "what came is no socket"};
  TRY_DO(os::set_nonblocking(egress, true));
  TRY_DO(epoll_.add(egress, EPOLLIN, next_tag_));
  egresses_.emplace(next_tag_++, Egress{std::move(egress), std::move(tenant)});
  return {};
}

Status Server::hear_sources(os::Fd sources) {
  TRY_DO(os::set_nonblocking(sources, true));
  TRY_DO(epoll_.add(sources, EPOLLIN, kSources));
  sources_ = std::move(sources);
  return {};
}

Status Server::run() {
  for (;;) {
    TRY(const auto events, epoll_.wait(patience()));
    // The owner first: what it has revoked is not given any more.
    for (const os::EpollEvent& event : events) {
      if (event.tag != kOwner) continue;
      TRY(const bool stays, serve_owner());
      if (!stays) return {};
    }
    for (const os::EpollEvent& event : events) {
      if (event.tag == kSources) serve_sources();
      if (event.tag >= kFirstEgress) serve_egress(event.tag);
    }
    if (next_expiry_ && clock_.ticks() >= *next_expiry_) look_for_expiry();
  }
}

std::optional<std::chrono::milliseconds> Server::patience() const {
  if (!next_expiry_) return std::nullopt;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*next_expiry_ - clock_.ticks()).count();
  constexpr std::int64_t kLongest = std::int64_t{3600} * 1000;
  return std::chrono::milliseconds{std::clamp<std::int64_t>(left, 0, kLongest)};
}

void Server::look_for_expiry() {
  const Ticks now = clock_.ticks();
  next_expiry_ = grants_.expire(now);
  const auto arrivals = arrivals_.expire(now);
  if (arrivals && (!next_expiry_ || *arrivals < *next_expiry_)) next_expiry_ = arrivals;
}

Result<bool> Server::serve_owner() {
  auto got = os::receive(owner_, in_.bytes(), 1);
  if (!got && os::would_wait(got.error())) return true;
  if (!got && got.error().code() == Errc::invalid) return std::move(got).error().with("owner");
  if (!got || got->bytes == 0) return false;
  const auto bytes = in_.bytes().first(got->bytes);
  const auto answer = [&]() -> Result<frame::BrokerToOwner> {
    const Wiping wiping{bytes};
    TRY(const frame::OwnerToBroker message, frame::decode_owner_to_broker(bytes));
    return answer_to(message, std::move(got->fds));
  }();
  if (!answer) return Error{answer.error()}.with("owner");
  // When the owner hears it, the secret lies where it is kept, or nowhere.
  TRY_DO(tell_owner(*answer));
  return true;
}

frame::BrokerToOwner Server::answer_to(const frame::OwnerToBroker& message,
                                       std::vector<os::Fd> fds) {
  if (const auto* bind = std::get_if<frame::BindGrant>(&message)) return answer(*bind);
  if (const auto* revoke = std::get_if<frame::RevokeGrants>(&message)) return answer(*revoke);
  if (const auto* keep = std::get_if<frame::KeepSecret>(&message)) return answer(*keep);
  if (const auto* drop = std::get_if<frame::DropSecret>(&message)) return answer(*drop);
  if (const auto* list = std::get_if<frame::ListSecrets>(&message)) return answer(*list);
  return answer(std::get<frame::ServeEgress>(message), std::move(fds));
}

Status Server::tell_owner(const frame::BrokerToOwner& message) const {
  auto sent = os::send(owner_, frame::encode(message));
  if (!sent) return std::move(sent).error().with("owner");
  return {};
}

Result<os::LockedMemory> Server::secret_for(const frame::BindGrant& wanted) {
  if (wanted.ticket != 0) return arrivals_.take(wanted.ticket, wanted.host);
  if (!store_) return no_store();
  return store_->read({wanted.tenant, wanted.stored});
}

Status Server::bind(const frame::BindGrant& wanted) {
  if (wanted.stored.empty() && wanted.ticket == 0) return grants_.bind(wanted, clock_.ticks());
  TRY(const os::LockedMemory secret, secret_for(wanted));
  frame::BindGrant filled = wanted;
  filled.secret = {secret.bytes()};
  return grants_.bind(filled, clock_.ticks());
}

frame::BrokerToOwner Server::answer(const frame::BindGrant& wanted) {
  const Status bound = bind(wanted);
  if (!bound) {
    return frame::GrantRefused{.sandbox = wanted.sandbox,
                               .grant = wanted.grant,
                               .code = std::string{code_of(bound.error())},
                               .text = bound.error().text()};
  }
  look_for_expiry();
  return frame::GrantBound{wanted.sandbox, wanted.grant};
}

frame::BrokerToOwner Server::answer(const frame::RevokeGrants& which) {
  return frame::GrantsRevoked{tell_revoked(grants_.revoke(which))};
}

frame::BrokerToOwner Server::answer(const frame::KeepSecret& wanted) {
  const StoredName name{wanted.tenant, wanted.name};
  const Status kept = store_ ? store_->keep(name, wanted.secret.bytes) : Status{no_store()};
  if (!kept) return refused_secret(wanted.name, kept.error());
  return frame::SecretKept{wanted.name,
                           tell_revoked(grants_.revoke_stored(wanted.tenant, wanted.name))};
}

frame::BrokerToOwner Server::answer(const frame::DropSecret& wanted) {
  const auto dropped =
      store_ ? store_->drop({wanted.tenant, wanted.name}) : Result<bool>{no_store()};
  if (!dropped) return refused_secret(wanted.name, dropped.error());
  return frame::SecretDropped{wanted.name, *dropped,
                              tell_revoked(grants_.revoke_stored(wanted.tenant, wanted.name))};
}

frame::BrokerToOwner Server::answer(const frame::ListSecrets& wanted) const {
  if (!store_) return refused_secret({}, no_store());
  return frame::SecretNames{store_->names(wanted.tenant, wanted.after, frame::kMostBrokerItems)};
}

std::uint32_t Server::tell_revoked(const std::vector<RevokedGrant>& revoked) {
  for (const RevokedGrant& each : revoked) {
    for (auto at = egresses_.begin(); at != egresses_.end();) {
      const auto& [tag, egress] = *at++;
      if (egress.tenant != each.tenant) continue;
      // One that cannot be told must not go on: it learns by the end of its socket.
      if (!tell(egress, frame::GrantRevoked{each.sandbox, each.grant})) drop(tag);
    }
  }
  return static_cast<std::uint32_t>(revoked.size());
}

frame::BrokerToOwner Server::answer(const frame::ServeEgress& wanted, std::vector<os::Fd> fds) {
  const Status added = fds.empty() ? Status{Error{Errc::invalid, "no socket came with it"}}
                                   : add_egress(std::move(fds.front()), wanted.tenant);
  if (added) return frame::EgressServed{wanted.tenant};
  return frame::GrantRefused{.code = std::string{code_of(added.error())},
                             .text = added.error().text()};
}

void Server::serve_sources() {
  const auto got = os::receive(sources_, in_.bytes());
  if (!got && os::would_wait(got.error())) return;
  const std::size_t size = got ? got->bytes : 0;
  const Wiping wiping{in_.bytes().first(size)};
  const auto message = frame::decode_source_to_broker(in_.bytes().first(size));
  // Who says something else is none of ours: nothing more comes that way.
  if (!message) {
    static_cast<void>(epoll_.remove(sources_));
    sources_ = os::Fd{};
    return;
  }
  arrivals_.put(*message, clock_.ticks());
  look_for_expiry();
}

void Server::drop(std::uint64_t tag) {
  const auto found = egresses_.find(tag);
  if (found == egresses_.end()) return;
  static_cast<void>(epoll_.remove(found->second.socket));
  egresses_.erase(found);
}

void Server::serve_egress(std::uint64_t tag) {
  const auto found = egresses_.find(tag);
  if (found == egresses_.end()) return;  // let go a moment ago
  const auto got = os::receive(found->second.socket, in_.bytes());
  if (!got && os::would_wait(got.error())) return;
  if (!got || got->bytes == 0) return drop(tag);
  const auto message = frame::decode_egress_to_broker(in_.bytes().first(got->bytes));
  if (!message || !answer(found->second, std::get<frame::AskSecret>(*message))) drop(tag);
}

bool Server::answer(const Egress& egress, const frame::AskSecret& request) {
  const auto decided = grants_.ask(egress.tenant, request, clock_.ticks());
  const auto* refusal = std::get_if<Refusal>(&decided);
  const frame::GrantUsed used{
      .sandbox = request.sandbox,
      .grant = request.grant,
      .host = request.host,
      .method = request.method,
      .path = request.path,
      .verdict = refusal != nullptr ? refusal->code : frame::SecretVerdict::given};
  const bool recorded = static_cast<bool>(tell_owner(used));
  if (refusal != nullptr) {
    return tell(egress, frame::NoSecret{request.number, refusal->code, std::string{refusal->text}});
  }
  if (!recorded) {
    return tell(egress, frame::NoSecret{request.number, frame::SecretVerdict::cred_unrecorded,
                                        "the use could not be recorded"});
  }
  const auto& allowed = std::get<Allowed>(decided);
  return tell(egress, frame::SecretGiven{
                          .number = request.number,
                          .header = std::string{allowed.header},
                          .secret_offset = static_cast<std::uint32_t>(allowed.secret->offset()),
                          .secret_size = static_cast<std::uint32_t>(allowed.secret->size()),
                          .value = {allowed.secret->value()}});
}

bool Server::tell(const Egress& egress, const frame::BrokerToEgress& message) {
  const auto bytes = frame::encode_into(out_.bytes(), message);
  if (!bytes) return false;
  const Wiping wiping{*bytes};
  return static_cast<bool>(os::send(egress.socket, *bytes));
}

}  // namespace cordon::broker
