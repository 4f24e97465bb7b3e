// SPDX-License-Identifier: Apache-2.0
#include "egress/live_connection.h"

namespace cordon::egress {
namespace {

bool still_allows(const policy::Policy& policy, const LiveConnection& connection,
                  const LiveRequest& request) {
  const policy::NetQuery query{.host = connection.host,
                               .port = connection.port,
                               .method = request.method,
                               .path = request.path,
                               .websocket = request.websocket};
  if (!policy.decide(query).allowed()) return false;
  if (request.grant.empty()) return true;
  return policy
      .decide(policy::CredentialQuery{.grant = request.grant,
                                      .host = connection.host,
                                      .method = request.method,
                                      .path = request.path})
      .allowed();
}

}  // namespace

bool still_allows(const policy::Policy& policy, const LiveConnection& connection) {
  if (!policy.decide(policy::NetQuery{.host = connection.host, .port = connection.port}).allowed())
    return false;
  const auto passage = policy.passage(connection.host, connection.port);
  if (!passage) return false;
  // Bytes that were passed unread are not judged afterwards, and an address that was dialled under
  // another filter is not filtered again.
  const policy::Passage& was = connection.passage;
  if (passage->protocol != was.protocol || passage->addresses != was.addresses ||
      passage->judged != was.judged) {
    return false;
  }
  if (!connection.address.empty() && !policy.decide_address(connection.address).allowed())
    return false;
  if (!connection.request) return true;
  if (connection.request->websocket && !passage->websocket) return false;
  return still_allows(policy, connection, *connection.request);
}

}  // namespace cordon::egress
