// SPDX-License-Identifier: Apache-2.0
#include "launcher/egress.h"

#include <array>
#include <signal.h>

#include "frame/egress.h"
#include "launcher/egress_state.h"
#include "launcher/own_program.h"
#include "launcher/secret_files.h"
#include "os/socket.h"

namespace cordon::launcher {

Result<Egress> Egress::start(Estate& estate) {
  if (!estate.state) {
    TRY(estate.state, make_egress_state());
  }
  TRY(os::SocketPair link, os::socketpair(os::SocketType::seqpacket));
  TRY(os::SocketPair node, os::socketpair(os::SocketType::seqpacket));
  TRY(EgressLink ours, EgressLink::over(std::move(link.one)));
  const std::array<const os::Fd*, 3> fds{&link.two, &node.two, &estate.state};
  const auto tell = [&](const Error& why) {
    const frame::EgressToNode said = frame::NotServed{.id = {}, .text = why.text()};
    // Its words reach a socket that was put at descriptor 4.
    static_cast<void>(os::send(os::Fd{4}, frame::encode(said)));
  };
  TRY(os::Child child,
      start_own_program({.arguments = {"cordon-egress"},
                         .fds = fds,
                         .id = estate.range ? std::optional{estate.range->first()} : std::nullopt},
                        tell));
  return Egress{std::move(estate), std::move(child), std::move(ours), std::move(node.one)};
}

bool Egress::is_alive() const noexcept { return !lost_ && child_.is_alive(); }

Egress::Estate Egress::end() && {
  static_cast<void>(child_.signal(SIGKILL));
  static_cast<void>(std::move(child_).wait());
  return std::move(estate_);
}

void Egress::kill() {
  lost_ = true;
  static_cast<void>(child_.signal(SIGKILL));
}

Status Egress::give(const std::string& id, const os::SteeredSockets& sockets) {
  Status held = link_.give(id, sockets);
  if (!held) kill();
  return held;
}

void Egress::take_back(const std::string& id) {
  if (!is_alive()) return;
  // Its copies would keep the namespace: it ends rather than that.
  if (!link_.take_back(id)) kill();
}

Result<OpenedEgress> Egress::take_node_link() {
  TRY(os::Fd hold, hold_egress_state(estate_.state));
  return OpenedEgress{std::move(node_), std::move(hold)};
}

Result<Egress::Estate*> Egresses::estate_of(const std::string& tenant, RangeLender* ranges,
                                            const os::Fd& kept) {
  if (const auto found = running_.find(tenant); found != running_.end()) {
    auto estate = std::move(*found->second).end();
    running_.erase(found);
    return &estates_.emplace(tenant, std::move(estate)).first->second;
  }
  if (const auto found = estates_.find(tenant); found != estates_.end()) return &found->second;
  Egress::Estate fresh;
  if (ranges != nullptr) {
    TRY(LentIds lent, ranges->take());
    fresh.range.emplace(std::move(lent.range));
  }
  if (kept) {
    TRY(fresh.state, open_egress_state(kept));
  }
  return &estates_.emplace(tenant, std::move(fresh)).first->second;
}

Result<OpenedEgress> Egresses::open(const std::string& tenant, RangeLender* ranges,
                                    const os::Fd& kept) {
  TRY(Egress::Estate* const estate, estate_of(tenant, ranges, kept));
  TRY(Egress started, Egress::start(*estate));
  estates_.erase(tenant);
  // From here on it is found by the next call, and its estate with it.
  Egress& egress =
      *running_.emplace(tenant, std::make_unique<Egress>(std::move(started))).first->second;
  for (const auto& [id, held] : held_) {
    if (held.tenant == tenant) TRY_DO(egress.give(id, held.sockets));
  }
  return egress.take_node_link();
}

Result<os::Fd> Egresses::open_broker(const std::string& tenant) {
  const auto found = running_.find(tenant);
  if (found == running_.end()) return Error{Errc::unavailable, "no cordon-egress runs for it"};
  brokers_.erase(tenant);  // ends it
  TRY(os::SocketPair owner, os::socketpair(os::SocketType::seqpacket));
  std::vector<std::string> arguments{"cordon-broker"};
  std::vector<const os::Fd*> fds{&owner.two};
  os::SocketPair heard;
  if (!sources_.all.empty()) {
    TRY(heard, os::socketpair(os::SocketType::seqpacket));
    arguments.emplace_back("--sources");
    fds.push_back(&heard.one);
  }
  SecretFiles files;
  if (secrets_) {
    TRY(files, open_secret_files(secrets_, tenant));
    arguments.emplace_back("--store");
    fds.insert(fds.end(), {&files.store, &files.key});
  }
  TRY(os::Child child,
      start_own_program(
          {.arguments = std::move(arguments), .fds = fds, .id = found->second->broker_id()},
          [](const Error& /*its socket ends*/) {}));
  brokers_.emplace(tenant, Broker{std::move(child), std::move(heard.two)});
  return std::move(owner.one);
}

Result<os::Child> Egresses::read_source(const frame::ReadSource& wanted) {
  const auto found = brokers_.find(wanted.tenant);
  if (found == brokers_.end()) return Error{Errc::unavailable, "no cordon-broker runs for it"};
  return start_reader(sources_, wanted, found->second.sources);
}

Status Egresses::add(const std::string& tenant, const std::string& id, os::SteeredSockets sockets) {
  const auto found = running_.find(tenant);
  if (found == running_.end() || !found->second->is_alive()) {
    return Error{Errc::unavailable, "no cordon-egress runs for this sandbox"};
  }
  TRY_DO(found->second->give(id, sockets));
  held_.insert_or_assign(id, Held{tenant, std::move(sockets)});
  return {};
}

void Egresses::adopt(const std::string& tenant, const std::string& id, os::SteeredSockets sockets) {
  const Held& held = held_.insert_or_assign(id, Held{tenant, std::move(sockets)}).first->second;
  const auto found = running_.find(tenant);
  // One that does not take them is replaced by one that does.
  if (found != running_.end() && found->second->is_alive()) {
    static_cast<void>(found->second->give(id, held.sockets));
  }
}

const Egresses::Held* Egresses::find(const std::string& id) const {
  const auto found = held_.find(id);
  return found == held_.end() ? nullptr : &found->second;
}

void Egresses::remove(const std::string& id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  const auto egress = running_.find(found->second.tenant);
  if (egress != running_.end()) egress->second->take_back(id);
  held_.erase(found);
}

}  // namespace cordon::launcher
