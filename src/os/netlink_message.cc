// SPDX-License-Identifier: Apache-2.0
// The two levels of netlink's type-length-value format.
#include "os/netlink_message.h"

#include <algorithm>
#include <array>

namespace cordon::os {
namespace {

std::size_t padded(std::size_t size) { return (size + 3U) & ~std::size_t{3}; }

Error cut_off() { return Error{Errc::invalid, "netlink: a length leads out of the message"}; }

}  // namespace

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags) {
  fixed(nlmsghdr{
      .nlmsg_len = 0, .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = 0, .nlmsg_pid = 0});
}

void NetlinkMessage::append(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize(padded(bytes_.size()));
}

void NetlinkMessage::attribute(std::uint16_t type, std::span<const std::byte> value) {
  fixed(nlattr{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + value.size()),
               .nla_type = type});
  append(value);
}

void NetlinkMessage::attribute(std::uint16_t type, std::uint32_t value) {
  attribute(type, std::as_bytes(std::span{&value, 1}));
}

void NetlinkMessage::attribute(std::uint16_t type, std::string_view text) {
  std::vector<std::byte> value(text.size() + 1);
  std::ranges::copy(std::as_bytes(std::span{text.data(), text.size()}), value.begin());
  attribute(type, value);
}

std::size_t NetlinkMessage::open(std::uint16_t type) {
  const std::size_t at = bytes_.size();
  fixed(nlattr{.nla_len = 0, .nla_type = static_cast<std::uint16_t>(type | NLA_F_NESTED)});
  return at;
}

void NetlinkMessage::close(std::size_t opened) {
  const auto length = static_cast<std::uint16_t>(bytes_.size() - opened);
  std::memcpy(bytes_.data() + opened, &length, sizeof length);
}

std::span<const std::byte> NetlinkMessage::finish(std::uint32_t sequence) {
  nlmsghdr header{};
  std::memcpy(&header, bytes_.data(), sizeof header);
  header.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  header.nlmsg_seq = sequence;
  std::memcpy(bytes_.data(), &header, sizeof header);
  return bytes_;
}

Result<std::vector<NetlinkPart>> split_messages(std::span<const std::byte> bytes) {
  std::vector<NetlinkPart> parts;
  while (!bytes.empty()) {
    TRY(const auto header, read_fixed<nlmsghdr>(bytes));
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) return cut_off();
    parts.push_back({.type = header.nlmsg_type,
                     .sequence = header.nlmsg_seq,
                     .payload = bytes.first(header.nlmsg_len).subspan(sizeof header)});
    bytes = bytes.subspan(std::min(padded(header.nlmsg_len), bytes.size()));
  }
  return parts;
}

Result<std::vector<NetlinkPart>> split_attributes(std::span<const std::byte> bytes) {
  std::vector<NetlinkPart> parts;
  while (!bytes.empty()) {
    TRY(const auto header, read_fixed<nlattr>(bytes));
    if (header.nla_len < sizeof header || header.nla_len > bytes.size()) return cut_off();
    parts.push_back({.type = static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK),
                     .sequence = 0,
                     .payload = bytes.first(header.nla_len).subspan(sizeof header)});
    bytes = bytes.subspan(std::min(padded(header.nla_len), bytes.size()));
  }
  return parts;
}

}  // namespace cordon::os
