// SPDX-License-Identifier: Apache-2.0
#include "started.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "os/file.h"
#include "os/identity.h"

namespace cordon {
namespace {

template <class T>
T need(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().text() << '\n';
  std::abort();
}

bool has_word(const os::Fd& socket) {
  pollfd ready{.fd = socket.get(), .events = POLLIN};
  return ::poll(&ready, 1, 2000) == 1;
}

int become(std::optional<uid_t> uid, const os::Fd& program, std::span<const os::Fd* const> fds) {
  constexpr int kHigh = 103;
  int count = 0;
  for (const os::Fd* fd : fds) ::dup2(fd->get(), kHigh + count++);
  ::dup2(program.get(), kHigh + count);
  for (int i = 0; i < count; ++i) ::dup2(kHigh + i, 3 + i);
  if (uid && (!os::set_groups({}) || !os::set_group(*uid) || !os::set_user(*uid))) return 90;
  std::vector<std::string> arguments{"cordon-broker"};
  if (count > 1) arguments.emplace_back("--store");
  // By descriptor: another user need not reach the build's directory.
  static_cast<void>(os::execveat(os::Fd{kHigh + count}, arguments, {}));
  return 91;
}

}  // namespace

StartedBroker::StartedBroker(std::optional<uid_t> uid, const std::string& tenant) {
  start(uid, {}, tenant);
}

StartedBroker::StartedBroker(const os::Fd& store, const os::Fd& key) {
  const std::array<const os::Fd*, 2> files{&store, &key};
  start(std::nullopt, files, "acme");
}

void StartedBroker::start(std::optional<uid_t> uid, std::span<const os::Fd* const> files,
                          const std::string& tenant) {
  os::SocketPair owner = need(os::socketpair(os::SocketType::seqpacket));
  os::SocketPair egress = need(os::socketpair(os::SocketType::seqpacket));
  const os::Fd program = need(os::openat(os::at_cwd(), CORDON_BROKER, O_PATH));
  std::vector<const os::Fd*> fds{&owner.two};
  fds.insert(fds.end(), files.begin(), files.end());
  child_ = std::make_unique<os::Child>(
      need(os::Child::start({}, [&] { return become(uid, program, fds); })));
  owner.two = os::Fd{};
  owner_ = std::move(owner.one);
  egress_ = std::move(egress.one);
  const std::array<const os::Fd*, 1> beside{&egress.two};
  // One that does not start may have ended by now.
  const auto bytes = need(frame::encode_into(memory_, frame::ServeEgress{tenant}));
  if (!os::send(owner_, bytes, beside)) return;
  const auto served = heard_by_owner();
  if (!served || !std::holds_alternative<frame::EgressServed>(*served))
    std::cerr << "no egress is served\n";
}

bool StartedBroker::is_ready() const {
  for (int i = 0; i < 1000; ++i) {
    if (status("Seccomp") == "2") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return false;
}

std::optional<frame::BrokerToOwner> StartedBroker::heard_by_owner() {
  if (!has_word(owner_)) return std::nullopt;
  const auto got = os::receive(owner_, memory_);
  if (!got || got->bytes == 0) return std::nullopt;
  return need(frame::decode_broker_to_owner(std::span{memory_}.first(got->bytes)));
}

frame::BrokerToOwner StartedBroker::tell(const frame::OwnerToBroker& message,
                                         std::span<const os::Fd* const> fds) {
  const auto bytes = need(frame::encode_into(memory_, message));
  need(os::send(owner_, bytes, fds));
  const auto heard = heard_by_owner();
  return heard ? *heard : frame::GrantRefused{.code = "silence"};
}

void StartedBroker::send_raw(std::string_view bytes) { need(os::send(owner_, as_bytes(bytes))); }

std::optional<Told> StartedBroker::heard_by_egress() {
  if (!has_word(egress_)) return std::nullopt;
  const auto got = os::receive(egress_, memory_);
  if (!got || got->bytes == 0) return std::nullopt;
  Told told{need(frame::decode_broker_to_egress(std::span{memory_}.first(got->bytes))), {}};
  if (auto* given = std::get_if<frame::SecretGiven>(&told.message)) {
    told.value = as_text(given->value.bytes);
    given->value = {};
  }
  return told;
}

std::optional<Told> StartedBroker::ask(const frame::AskSecret& request) {
  need(os::send(egress_, frame::encode(frame::EgressToBroker{request})));
  return heard_by_egress();
}

os::ExitStatus StartedBroker::wait() { return need(std::move(*child_).wait()); }

std::string StartedBroker::proc(const char* name) const {
  return "/proc/" + std::to_string(pid()) + "/" + name;
}

std::string StartedBroker::status(std::string_view field) const {
  std::ifstream file{proc("status")};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field) || line[field.size()] != ':') continue;
    const auto from = line.find_first_not_of(" \t", field.size() + 1);
    return from == std::string::npos ? std::string{} : line.substr(from);
  }
  return {};
}

std::string value_of(const std::optional<Told>& told) { return told ? told->value : "silence"; }

frame::BindGrant a_grant(std::string_view secret, std::string grant) {
  return {.sandbox = "abc",
          .tenant = "acme",
          .grant = std::move(grant),
          .host = "api.github.com",
          .methods = {"GET"},
          .paths = {"/repos/acme/**"},
          .header = "Authorization: Bearer {secret}",
          .ttl_seconds = 60,
          .secret = {as_bytes(secret)}};
}

frame::AskSecret a_request(std::uint64_t number, std::string grant) {
  return {.number = number,
          .sandbox = "abc",
          .grant = std::move(grant),
          .host = "api.github.com",
          .port = 443,
          .method = "GET",
          .path = "/repos/acme/one"};
}

}  // namespace cordon
