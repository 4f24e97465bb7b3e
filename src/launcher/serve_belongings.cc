// SPDX-License-Identifier: Apache-2.0
// What a node asks for itself and for its tenants: listening sockets, egresses, brokers, sources, a
// notary, a keeper of images, a recorder.
#include <algorithm>
#include <array>

#include "base/id.h"
#include "launcher/engine_trial.h"
#include "launcher/serve.h"
#include "os/fault_point.h"

namespace cordon::launcher {
namespace {

// Who reads one in order takes no longer than a moment.
constexpr std::size_t kMostReaders = 16;

}  // namespace

void Server::answer(const frame::KeepListener& request, std::vector<os::Fd> fds) {
  const std::string about = "listener:" + request.name;
  if (fds.size() > 1) return refuse(about, "malformed", "more than one descriptor");
  if (fds.empty()) {
    listeners_.forget(request.name);
    return send(frame::Stored{.id = about});
  }
  os::fault_point("launcher.listener.asked");
  const Status kept = listeners_.keep(request.name, {request.address, std::move(fds.front())});
  if (!kept) return refuse(about, "malformed", kept.error().text());
  send(frame::Stored{.id = about, .address = request.address, .tenant = {}});
}

void Server::answer(const frame::TakeListener& request) {
  const std::string about = "listener:" + request.name;
  const Listeners::Kept* const kept = listeners_.find(request.name);
  if (kept == nullptr) return refuse(about, "not_found", "no socket of that name is kept");
  const os::Fd* const socket = &kept->socket;
  send(frame::Stored{.id = about, .address = kept->address, .tenant = {}}, {&socket, 1});
}

void Server::answer(const frame::OpenEgress& request, std::vector<os::Fd> fds) {
  const std::string about = "egress:" + request.tenant;
  if (!request.tenant.empty() && !is_base32_name(request.tenant)) {
    return refuse(about, "malformed", "a tenant that is not of our alphabet");
  }
  const auto opened =
      workshop_.open_egress(request.tenant, fds.empty() ? os::Fd{} : std::move(fds.front()));
  if (!opened) return refuse(about, "unavailable", opened.error().text());
  const std::array<const os::Fd*, 2> beside{&opened->link, &opened->state};
  send(frame::EgressOpened{about}, beside);
}

void Server::answer(const frame::OpenBroker& request) {
  const std::string about = "broker:" + request.tenant;
  const auto link = workshop_.egresses->open_broker(request.tenant);
  if (!link) return refuse(about, "unavailable", link.error().text());
  const os::Fd* const beside = &*link;
  send(frame::BrokerOpened{about}, {&beside, 1});
}

void Server::answer(const frame::OpenNotary& /*request*/) {
  const auto link = workshop_.open_notary();
  if (!link) return refuse("notary", "unavailable", link.error().text());
  const os::Fd* const beside = &*link;
  send(frame::NotaryOpened{"notary"}, {&beside, 1});
}

void Server::answer(const frame::OpenKeeper& /*request*/) {
  const auto link = workshop_.images.open();
  if (!link) return refuse("keeper", "unavailable", link.error().text());
  const os::Fd* const beside = &*link;
  send(frame::KeeperOpened{"keeper"}, {&beside, 1});
}

void Server::answer(const frame::OpenRecorder& /*request*/, std::vector<os::Fd> fds) {
  if (!fds.empty()) {
    auto kept = Recorder::of(std::move(fds));
    if (!kept) return refuse("recorder", "malformed", kept.error().text());
    workshop_.recorder.emplace(*std::move(kept));
  }
  if (!workshop_.recorder) return refuse("recorder", "unavailable", "there is none here");
  std::array<const os::Fd*, frame::kRecorderParts> beside{};
  std::ranges::transform(workshop_.recorder->parts(), beside.begin(),
                         [](const os::Fd& part) { return &part; });
  send(frame::RecorderOpened{"recorder"}, beside);
}

void Server::answer(const frame::ReadSource& request) {
  const std::string about = "source:" + std::to_string(request.ticket);
  if (request.ticket == 0) return refuse(about, "malformed", "a ticket is not 0");
  if (readers_.size() >= kMostReaders) {
    return refuse(about, "busy", "too many sources are being read: ask again");
  }
  auto reader = workshop_.egresses->read_source(request);
  if (!reader) {
    const bool denied = reader.error().code() == Errc::denied;
    return refuse(about, denied ? "denied" : "unavailable", reader.error().text());
  }
  const std::uint64_t tag = next_tag_++;
  if (const Status added = epoll_.add(reader->pidfd(), EPOLLIN, tag); !added) {
    return refuse(about, "unavailable", added.error().text());
  }
  readers_.emplace(tag, *std::move(reader));
  send(frame::SourceStarted{about});
}

void Server::answer(const frame::TryEngine& request) {
  const EngineTrial trial = request.machine ? try_machine(workshop_) : try_gvisor(workshop_);
  send(frame::EngineTried{.id = "engine",
                          .support = static_cast<std::uint32_t>(trial.fact.support),
                          .detail = trial.fact.detail,
                          .remedy = trial.fact.remedy,
                          .platform = trial.platform,
                          .traces = trial.traces});
}

}  // namespace cordon::launcher
