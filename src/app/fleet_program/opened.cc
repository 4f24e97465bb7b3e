// SPDX-License-Identifier: Apache-2.0
#include "app/fleet_program/opened.h"

#include <csignal>
#include <random>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "os/listen_at_path.h"
#include "os/own_directory.h"
#include "os/tcp_listen.h"
#include "token/key_file.h"

namespace cordon::fleet_program {
namespace {

constexpr std::size_t kLargestKept = std::size_t{64} << 20U;

Result<std::string> content_of(const std::string& path) {
  return os::read_file(os::at_cwd(), path.c_str(), kLargestFile);
}

}  // namespace

Result<token::RootKey> root_key_from(const std::string& path) {
  TRY(const std::string text, os::read_own_file(path, token::kLongestKeyFile));
  auto key = token::parse_key_file(as_bytes(text));
  if (!key) return std::move(key).error().with(path);
  if (auto* root = std::get_if<token::RootKey>(&*key)) return std::move(*root);
  return Error{Errc::invalid,
               path + ": the key of one node; the root is needed here, to make tokens for all"};
}

Result<std::optional<etcd::Identity>> identity_of(const fleet::IdentityFiles& files) {
  if (files.authority.empty()) return std::optional<etcd::Identity>{};
  etcd::Identity identity;
  TRY(identity.authority, content_of(files.authority));
  TRY(identity.certificate, content_of(files.certificate));
  TRY(identity.key, content_of(files.key));
  return std::optional{std::move(identity)};
}

Result<std::optional<http::ClientTls>> towards_nodes(const fleet::IdentityFiles& files) {
  if (files.authority.empty()) return std::optional<http::ClientTls>{};
  http::ClientTlsFiles texts;
  TRY(texts.authorities, content_of(files.authority));
  TRY(texts.certificates, content_of(files.certificate));
  TRY(texts.key, content_of(files.key));
  TRY(http::ClientTls tls, http::ClientTls::create(texts));
  return std::optional{std::move(tls)};
}

Result<http::ServerSetup> setup_of(const gate::Listening& listen) {
  http::ServerSetup setup;
  TRY(os::Fd local, os::listen_at_path(listen.unix_socket));
  setup.listeners.push_back({std::move(local), false});
  if (!listen.tcp) return setup;
  TRY(const os::IpAddress address, os::IpAddress::parse(listen.tcp->host));
  TRY(os::Fd tcp, os::tcp_listen(address, listen.tcp->port));
  const bool has_tls = !listen.certificate.empty();
  setup.listeners.push_back({std::move(tcp), has_tls});
  if (!has_tls) return setup;
  http::ServerTlsFiles files;
  TRY(files.certificates, content_of(listen.certificate));
  TRY(files.key, content_of(listen.key));
  if (!listen.client_authority.empty()) {
    TRY(files.client_authorities, content_of(listen.client_authority));
  }
  TRY(setup.tls, http::ServerTls::create(files));
  return setup;
}

Result<std::optional<std::string>> kept_text(const os::Fd& state, const char* name) {
  auto kept = os::read_own_file(state, name, kLargestKept);
  if (kept) return std::optional{*std::move(kept)};
  if (kept.error().code() == Errc::not_found) return std::optional<std::string>{};
  return std::move(kept).error().with(name);
}

Result<Cluster> cluster_of(const asio::any_io_executor& executor,
                           const std::optional<etcd::Identity>& identity,
                           const std::vector<std::string>& members) {
  Cluster cluster;
  TRY(cluster.transport,
      etcd::Transport::create(executor, {.members = members, .identity = identity}));
  cluster.client =
      std::make_unique<etcd::Client>(*cluster.transport, std::random_device{}() % members.size());
  return cluster;
}

asio::awaitable<void> until_signal() {
  asio::signal_set signals{co_await asio::this_coro::executor, SIGTERM, SIGINT};
  co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace cordon::fleet_program
