// SPDX-License-Identifier: Apache-2.0
// One nftables batch, written by hand, and a datagram that it must stop.
#include "os/probe_network.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <vector>

#include "os/namespace.h"
#include "os/netlink.h"
#include "os/netlink_message.h"

namespace cordon::os {
namespace {

constexpr const char* kTable = "cordon_probe";

struct HookAttributes {
  nlattr number_header{8, NFTA_HOOK_HOOKNUM};
  std::uint32_t number = htonl(NF_INET_LOCAL_OUT);
  nlattr priority_header{8, NFTA_HOOK_PRIORITY};
  std::uint32_t priority = 0;
};

void append(std::vector<std::byte>& batch, NetlinkMessage message, std::uint32_t sequence) {
  const auto bytes = message.finish(sequence);
  batch.insert(batch.end(), bytes.begin(), bytes.end());
}

NetlinkMessage message_of(unsigned type, unsigned flags, std::uint8_t family, std::uint16_t id) {
  NetlinkMessage message{static_cast<std::uint16_t>(type),
                         static_cast<std::uint16_t>(NLM_F_REQUEST | flags)};
  message.fixed(nfgenmsg{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(id)});
  return message;
}

// nftables takes changes in batches only: all of them hold at its end, or none.
std::vector<std::byte> batch_that_drops_output() {
  constexpr unsigned kTables = NFNL_SUBSYS_NFTABLES << 8U;
  constexpr unsigned kMake = NLM_F_CREATE | NLM_F_ACK;
  auto table = message_of(kTables | NFT_MSG_NEWTABLE, kMake, NFPROTO_IPV4, 0);
  table.attribute(NFTA_TABLE_NAME, std::string_view{kTable});
  auto chain = message_of(kTables | NFT_MSG_NEWCHAIN, kMake, NFPROTO_IPV4, 0);
  chain.attribute(NFTA_CHAIN_TABLE, std::string_view{kTable});
  chain.attribute(NFTA_CHAIN_NAME, std::string_view{"output"});
  const HookAttributes hook;
  chain.attribute(NFTA_CHAIN_HOOK | NLA_F_NESTED, std::as_bytes(std::span{&hook, 1}));
  chain.attribute(NFTA_CHAIN_POLICY, std::uint32_t{htonl(NF_DROP)});
  chain.attribute(NFTA_CHAIN_TYPE, std::string_view{"filter"});

  std::vector<std::byte> batch;
  append(batch, message_of(NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES), 1);
  append(batch, std::move(table), 2);
  append(batch, std::move(chain), 3);
  append(batch, message_of(NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES), 4);
  return batch;
}

// Reads answers until that to the last of our two changes, or the first refusal.
Status await_answers(const Fd& socket, const TrialLimit& limit) {
  std::array<std::byte, 8192> buffer{};
  while (readable_before(socket, limit.deadline)) {
    const ssize_t length = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (length < 0) return Error::from_errno("recv");
    TRY(const auto parts,
        split_messages(std::span{buffer}.first(static_cast<std::size_t>(length))));
    for (const NetlinkPart& part : parts) {
      if (part.type != NLMSG_ERROR) continue;
      TRY(const auto answer, read_fixed<nlmsgerr>(part.payload));
      if (answer.error != 0) return Error::from_errno("nftables", -answer.error);
      if (part.sequence == 3) return {};
    }
  }
  return Error{Errc::timeout, "nftables does not answer"};
}

Status drop_output(const TrialLimit& limit) {
  const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)};
  if (!socket) return Error::from_errno("netfilter socket");
  const auto batch = batch_that_drops_output();
  if (::send(socket.get(), batch.data(), batch.size(), 0) < 0) return Error::from_errno("send");
  return await_answers(socket, limit);
}

Status send_datagram() {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket) return Error::from_errno("socket");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0) {
    return Error::from_errno("sendto");
  }
  return {};
}

Status filter_own_network(const TrialLimit& limit) {
  TRY_DO(unshare(Ns::net));
  TRY(RouteSocket routes, RouteSocket::open());
  TRY(const Link loopback, routes.link("lo"));
  TRY_DO(routes.set_link_up(loopback.index));
  TRY_DO(send_datagram());
  TRY_DO(drop_output(limit));
  const Status sent = send_datagram();
  if (sent || sent.error().cause().value() != EPERM) {
    return Error{Errc::unavailable, "a chain that drops all output lets a datagram pass"};
  }
  return {};
}

}  // namespace

Fact probe_network_filter(const Caller& caller, const TrialLimit& limit) {
  const auto act = [&]() -> Fact {
    const Status done = filter_own_network(limit);
    if (done) return ok_fact("nftables");
    Fact fact = refused_fact(done.error());
    if (done.error().cause().value() == EPROTONOSUPPORT) fact.support = Support::absent;
    return fact;
  };
  return in_user_namespace(caller, act, limit);
}

}  // namespace cordon::os
