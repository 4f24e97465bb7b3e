// SPDX-License-Identifier: Apache-2.0
#include "os/nft_batch.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "os/fd.h"
#include "os/netlink_message.h"

namespace cordon::os {
namespace {

constexpr int kPatience = 5'000;               // milliseconds
constexpr std::uint8_t kPortUnreachable = 3;   // ICMP_PORT_UNREACH
constexpr std::uint8_t kFiltered = 13;         // ICMP_PKT_FILTERED
constexpr std::uint32_t kDestination = 16;     // of an IPv4 header
constexpr std::uint32_t kDestinationPort = 2;  // of a TCP or UDP header: the destination's

std::uint16_t nested(std::uint16_t type) {
  return static_cast<std::uint16_t>(type | static_cast<unsigned>(NLA_F_NESTED));
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize((out.size() + 3U) & ~std::size_t{3});
}

void put(std::vector<std::byte>& out, std::uint16_t type, std::span<const std::byte> value) {
  const nlattr header{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + value.size()),
                      .nla_type = type};
  append(out, std::as_bytes(std::span{&header, 1}));
  append(out, value);
}

void put(std::vector<std::byte>& out, std::uint16_t type, std::uint32_t number) {
  const std::uint32_t wire = htonl(number);
  put(out, type, std::as_bytes(std::span{&wire, 1}));
}

void put(std::vector<std::byte>& out, std::uint16_t type, std::string_view text) {
  std::vector<std::byte> value(text.size() + 1);
  std::ranges::copy(std::as_bytes(std::span{text}), value.begin());
  put(out, type, value);
}

std::vector<std::byte> value_of(std::span<const std::byte> bytes) {
  std::vector<std::byte> value;
  put(value, NFTA_DATA_VALUE, bytes);
  return value;
}

}  // namespace

void NftRule::add(std::string_view name, std::span<const std::byte> attributes) {
  std::vector<std::byte> expression;
  put(expression, NFTA_EXPR_NAME, name);
  put(expression, nested(NFTA_EXPR_DATA), attributes);
  put(expressions_, nested(NFTA_LIST_ELEM), expression);
}

void NftRule::load(std::uint32_t base, std::uint32_t offset, std::uint32_t size) {
  std::vector<std::byte> a;
  put(a, NFTA_PAYLOAD_DREG, NFT_REG_1);
  put(a, NFTA_PAYLOAD_BASE, base);
  put(a, NFTA_PAYLOAD_OFFSET, offset);
  put(a, NFTA_PAYLOAD_LEN, size);
  add("payload", a);
}

void NftRule::equals(std::span<const std::byte> value) {
  std::vector<std::byte> a;
  put(a, NFTA_CMP_SREG, NFT_REG_1);
  put(a, NFTA_CMP_OP, NFT_CMP_EQ);
  put(a, nested(NFTA_CMP_DATA), value_of(value));
  add("cmp", a);
}

void NftRule::set(std::uint32_t reg, std::span<const std::byte> value) {
  std::vector<std::byte> a;
  put(a, NFTA_IMMEDIATE_DREG, reg);
  put(a, nested(NFTA_IMMEDIATE_DATA), value_of(value));
  add("immediate", a);
}

NftRule& NftRule::protocol_is(std::uint8_t number) {
  std::vector<std::byte> a;
  put(a, NFTA_META_DREG, NFT_REG_1);
  put(a, NFTA_META_KEY, NFT_META_L4PROTO);
  add("meta", a);
  equals(std::as_bytes(std::span{&number, 1}));
  return *this;
}

NftRule& NftRule::to(const Ipv4& address) {
  load(NFT_PAYLOAD_NETWORK_HEADER, kDestination, sizeof address);
  equals(std::as_bytes(std::span{address}));
  return *this;
}

NftRule& NftRule::to_block(const Ipv4& address, const Ipv4& mask) {
  load(NFT_PAYLOAD_NETWORK_HEADER, kDestination, sizeof address);
  constexpr Ipv4 kNothing{};
  std::vector<std::byte> a;
  put(a, NFTA_BITWISE_SREG, NFT_REG_1);
  put(a, NFTA_BITWISE_DREG, NFT_REG_1);
  put(a, NFTA_BITWISE_LEN, std::uint32_t{sizeof mask});
  put(a, nested(NFTA_BITWISE_MASK), value_of(std::as_bytes(std::span{mask})));
  put(a, nested(NFTA_BITWISE_XOR), value_of(std::as_bytes(std::span{kNothing})));
  add("bitwise", a);
  equals(std::as_bytes(std::span{address}));
  return *this;
}

NftRule& NftRule::to_port(std::uint16_t port) {
  load(NFT_PAYLOAD_TRANSPORT_HEADER, kDestinationPort, sizeof port);
  const std::uint16_t wire = htons(port);
  equals(std::as_bytes(std::span{&wire, 1}));
  return *this;
}

NftRule& NftRule::count() {
  add("counter", {});
  return *this;
}

NftRule& NftRule::steer_to(const Ipv4& address, std::uint16_t port) {
  const std::uint16_t wire = htons(port);
  set(NFT_REG_1, std::as_bytes(std::span{address}));
  set(NFT_REG_2, std::as_bytes(std::span{&wire, 1}));
  std::vector<std::byte> a;
  put(a, NFTA_TPROXY_FAMILY, std::uint32_t{NFPROTO_IPV4});
  put(a, NFTA_TPROXY_REG_ADDR, NFT_REG_1);
  put(a, NFTA_TPROXY_REG_PORT, NFT_REG_2);
  add("tproxy", a);
  return *this;
}

NftRule& NftRule::accept() {
  std::vector<std::byte> code;
  put(code, NFTA_VERDICT_CODE, std::uint32_t{NF_ACCEPT});
  std::vector<std::byte> verdict;
  put(verdict, nested(NFTA_DATA_VERDICT), code);
  std::vector<std::byte> a;
  put(a, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
  put(a, nested(NFTA_IMMEDIATE_DATA), verdict);
  add("immediate", a);
  return *this;
}

NftRule& NftRule::reject_with_reset() {
  std::vector<std::byte> a;
  put(a, NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST);
  add("reject", a);
  return *this;
}

NftRule& NftRule::reject_as_prohibited() { return reject_with_code(kFiltered); }

NftRule& NftRule::reject_as_closed() { return reject_with_code(kPortUnreachable); }

NftRule& NftRule::reject_with_code(std::uint8_t code) {
  std::vector<std::byte> a;
  put(a, NFTA_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
  put(a, NFTA_REJECT_ICMP_CODE, std::as_bytes(std::span{&code, 1}));
  add("reject", a);
  return *this;
}

NftBatch::NftBatch(std::string_view table) : table_{table} {
  frame(NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES, {});
  std::vector<std::byte> a;
  put(a, NFTA_TABLE_NAME, table_);
  change(NFT_MSG_NEWTABLE, NLM_F_CREATE, a);
}

void NftBatch::frame(std::uint16_t type, std::uint16_t flags, std::uint8_t family,
                     std::uint16_t resource, std::span<const std::byte> attributes) {
  NetlinkMessage message{type, static_cast<std::uint16_t>(NLM_F_REQUEST | flags)};
  message.fixed(
      nfgenmsg{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(resource)});
  if (!attributes.empty()) message.raw(attributes);
  const auto bytes = message.finish(++sequence_);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void NftBatch::change(std::uint16_t kind, std::uint16_t flags,
                      std::span<const std::byte> attributes) {
  last_change_ = bytes_.size();
  frame(static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8U) | kind), flags, NFPROTO_IPV4, 0,
        attributes);
}

void NftBatch::chain(std::string_view name, NftHook hook, std::int32_t priority, bool drops) {
  std::vector<std::byte> where;
  put(where, NFTA_HOOK_HOOKNUM,
      hook == NftHook::prerouting ? std::uint32_t{NF_INET_PRE_ROUTING}
                                  : std::uint32_t{NF_INET_LOCAL_OUT});
  put(where, NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority));
  std::vector<std::byte> a;
  put(a, NFTA_CHAIN_TABLE, table_);
  put(a, NFTA_CHAIN_NAME, name);
  put(a, nested(NFTA_CHAIN_HOOK), where);
  put(a, NFTA_CHAIN_POLICY, drops ? std::uint32_t{NF_DROP} : std::uint32_t{NF_ACCEPT});
  put(a, NFTA_CHAIN_TYPE, std::string_view{"filter"});
  change(NFT_MSG_NEWCHAIN, NLM_F_CREATE, a);
}

void NftBatch::rule(std::string_view chain, const NftRule& rule) {
  std::vector<std::byte> a;
  put(a, NFTA_RULE_TABLE, table_);
  put(a, NFTA_RULE_CHAIN, chain);
  put(a, nested(NFTA_RULE_EXPRESSIONS), rule.expressions());
  change(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, a);
}

std::span<const std::byte> NftBatch::finish() {
  // One acknowledgement, of the last change: refusals are told without being asked for.
  nlmsghdr header{};
  std::memcpy(&header, bytes_.data() + last_change_, sizeof header);
  header.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(bytes_.data() + last_change_, &header, sizeof header);
  const std::uint32_t last = sequence_;
  frame(NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES, {});
  sequence_ = last;
  return bytes_;
}

Status send_nft_batch(std::span<const std::byte> batch, std::uint32_t last) {
  const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)};
  if (!socket) return Error::from_errno("netfilter socket");
  if (::send(socket.get(), batch.data(), batch.size(), 0) < 0) {
    return Error::from_errno("nftables send");
  }
  std::array<std::byte, 8192> buffer{};
  for (;;) {
    pollfd news{.fd = socket.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&news, 1, kPatience);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Error{Errc::timeout, "nftables does not answer"};
    const ssize_t length = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return Error::from_errno("nftables recv");
    TRY(const auto parts,
        split_messages(std::span{buffer}.first(static_cast<std::size_t>(length))));
    for (const NetlinkPart& part : parts) {
      if (part.type != NLMSG_ERROR) continue;
      TRY(const auto answer, read_fixed<nlmsgerr>(part.payload));
      if (answer.error != 0) return Error::from_errno("nftables", -answer.error);
      if (part.sequence == last) return {};
    }
  }
}

}  // namespace cordon::os
