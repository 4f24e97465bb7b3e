// SPDX-License-Identifier: Apache-2.0
// What programs of a fleet open and read before they give up the right to.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "etcd/client.h"
#include "etcd/transport.h"
#include "fleet/etcd_settings.h"
#include "gate/listening.h"
#include "http/client_tls.h"
#include "http/server.h"
#include "os/fd.h"
#include "os/file.h"
#include "policy/problem.h"
#include "token/key.h"

namespace cordon::fleet_program {

inline constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

// By `read`, of the text and of problems. What is wrong has been told when it returns.
template <class Read>
auto settings_from(const char* program, const std::string& path, Read read)
    -> decltype(read(std::string_view{}, std::declval<policy::Problems&>())) {
  const auto text = os::read_file(os::at_cwd(), path.c_str(), kLargestFile);
  if (!text) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", program, text.error().text().c_str()));
    return text.error();
  }
  policy::Problems problems{path};
  auto settings = read(*text, problems);
  if (settings) return settings;
  for (const policy::Problem& problem : problems.all()) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", program, to_string(problem).c_str()));
  }
  return settings;
}

Result<token::RootKey> root_key_from(const std::string& path);
// Nothing: neither TLS nor rights.
Result<std::optional<etcd::Identity>> identity_of(const fleet::IdentityFiles& files);
Result<std::optional<http::ClientTls>> towards_nodes(const fleet::IdentityFiles& files);
Result<http::ServerSetup> setup_of(const gate::Listening& listen);

// Of an earlier start; nothing: there was none.
Result<std::optional<std::string>> kept_text(const os::Fd& state, const char* name);

// One cluster of etcd and its client.
struct Cluster {
  std::unique_ptr<etcd::Transport> transport;
  std::unique_ptr<etcd::Client> client;
};
Result<Cluster> cluster_of(const asio::any_io_executor& executor,
                           const std::optional<etcd::Identity>& identity,
                           const std::vector<std::string>& members);

// Returns when a signal asks for the end.
asio::awaitable<void> until_signal();

}  // namespace cordon::fleet_program
