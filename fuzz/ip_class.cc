// SPDX-License-Identifier: Apache-2.0
// Any address: its range is the one that a list of prefixes in their usual spelling gives, walked
// bit by bit; and of IPv4 the policy says the same.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "egress/address.h"

namespace {

using cordon::egress::AddressRange;
using cordon::os::IpAddress;

[[noreturn]] void broken(std::string_view promise, const IpAddress& address) {
  std::cerr << "broken promise: " << promise << ": " << address.text() << '\n';
  std::abort();
}

struct Row {
  const char* prefix;
  int bits;
  AddressRange range;
};

// The longest prefix that fits decides, so that the order has no meaning.
constexpr Row kModel[] = {
    {"0.0.0.0", 0, AddressRange::public_},
    {"0.0.0.0", 8, AddressRange::unspecified},
    {"10.0.0.0", 8, AddressRange::private_},
    {"100.64.0.0", 10, AddressRange::shared},
    {"100.100.100.200", 32, AddressRange::metadata},
    {"127.0.0.0", 8, AddressRange::loopback},
    {"168.63.129.16", 32, AddressRange::metadata},
    {"169.254.0.0", 16, AddressRange::link_local},
    {"169.254.169.254", 32, AddressRange::metadata},
    {"169.254.170.2", 32, AddressRange::metadata},
    {"169.254.170.23", 32, AddressRange::metadata},
    {"172.16.0.0", 12, AddressRange::private_},
    {"192.0.0.0", 24, AddressRange::reserved},
    {"192.0.0.192", 32, AddressRange::metadata},
    {"192.0.2.0", 24, AddressRange::documentation},
    {"192.88.99.0", 24, AddressRange::transition},
    {"192.168.0.0", 16, AddressRange::private_},
    {"198.18.0.0", 15, AddressRange::synthetic},
    {"198.51.100.0", 24, AddressRange::documentation},
    {"203.0.113.0", 24, AddressRange::documentation},
    {"224.0.0.0", 4, AddressRange::multicast},
    {"240.0.0.0", 4, AddressRange::reserved},
    {"255.255.255.255", 32, AddressRange::broadcast},
    {"::", 0, AddressRange::reserved},
    {"::", 128, AddressRange::unspecified},
    {"::1", 128, AddressRange::loopback},
    {"64:ff9b:1::", 48, AddressRange::transition},
    {"2000::", 3, AddressRange::public_},
    {"2001::", 23, AddressRange::reserved},
    {"2001:2::", 48, AddressRange::benchmark},
    {"2001:db8::", 32, AddressRange::documentation},
    {"3fff::", 20, AddressRange::documentation},
    {"fc00::", 7, AddressRange::private_},
    {"fd00:42::42", 128, AddressRange::metadata},
    {"fd00:ec2::", 32, AddressRange::metadata},
    {"fd20:ce::254", 128, AddressRange::metadata},
    {"fe80::", 10, AddressRange::link_local},
    {"fe80::a9fe:a9fe", 128, AddressRange::metadata},
    {"ff00::", 8, AddressRange::multicast},
};

bool bit(const IpAddress& address, int index) {
  const auto byte = address.bytes()[static_cast<std::size_t>(index / 8)];
  return ((byte >> static_cast<unsigned>(7 - index % 8)) & 1U) != 0;
}

bool begins(const IpAddress& address, const IpAddress& prefix, int bits) {
  if (address.is_v6() != prefix.is_v6()) return false;
  for (int i = 0; i < bits; ++i) {
    if (bit(address, i) != bit(prefix, i)) return false;
  }
  return true;
}

bool begins(const IpAddress& address, const char* prefix, int bits) {
  return begins(address, *IpAddress::parse(prefix), bits);
}

AddressRange modelled(const IpAddress& address) {
  static const auto prefixes = [] {
    std::array<IpAddress, std::size(kModel)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) = *IpAddress::parse(kModel[i].prefix);
    return all;
  }();
  int longest = -1;
  AddressRange range = AddressRange::reserved;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    if (kModel[i].bits > longest && begins(address, prefixes.at(i), kModel[i].bits)) {
      longest = kModel[i].bits;
      range = kModel[i].range;
    }
  }
  return range;
}

// The IPv4 address that lies at bit `at`.
IpAddress lifted(const IpAddress& address, int at, bool flipped) {
  std::array<std::uint8_t, 4> quad{};
  for (int i = 0; i < 32; ++i) {
    if (bit(address, at + i) != flipped)
      quad.at(static_cast<std::size_t>(i / 8)) |= static_cast<std::uint8_t>(0x80 >> (i % 8));
  }
  return IpAddress::v4(quad);
}

std::optional<IpAddress> carried(const IpAddress& address) {
  if (begins(address, "::", 127)) return std::nullopt;
  if (begins(address, "::ffff:0:0", 96) || begins(address, "64:ff9b::", 96) ||
      begins(address, "::ffff:0:0:0", 96) || begins(address, "::", 96)) {
    return lifted(address, 96, false);
  }
  if (begins(address, "2002::", 16)) return lifted(address, 16, false);
  if (begins(address, "2001::", 32)) return lifted(address, 96, true);
  return std::nullopt;
}

void check(const IpAddress& address) {
  const auto judged = cordon::egress::classify(address);
  const auto inside = carried(address);
  AddressRange want = modelled(inside.value_or(address));
  const bool honest = begins(address, "::ffff:0:0", 96) || begins(address, "64:ff9b::", 96);
  if (inside && want == AddressRange::public_ && !honest) want = AddressRange::transition;
  if (judged.inside != inside) broken("the IPv4 address inside is found", address);
  if (judged.range != want) broken("the range is that of the longest prefix", address);

  const auto kind = cordon::egress::kind_of(judged.range);
  if (!address.is_v6() &&
      kind != cordon::policy::kind_of(cordon::policy::ipv4_from(address.text()).value_or(0)))
    broken("the policy agrees", address);
  using cordon::policy::Addresses;
  using cordon::policy::AddressKind;
  if (cordon::egress::refuse_address(address, Addresses::public_, {}).has_value() !=
      (kind != AddressKind::public_))
    broken("only public addresses are dialled by default", address);
  if (cordon::egress::refuse_address(address, Addresses::private_, {}).has_value() !=
      (kind == AddressKind::forbidden))
    broken("a forbidden address is dialled by no rule", address);
  if (!cordon::egress::refuse_address(address, Addresses::private_, std::span{&address, 1}))
    broken("an address of this host is never dialled", address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 4) check(IpAddress::v4({data[0], data[1], data[2], data[3]}));
  if (size != 16) return 0;
  std::array<std::uint8_t, 16> bytes{};
  std::copy_n(data, 16, bytes.begin());
  check(IpAddress::v6(bytes));
  return 0;
}
