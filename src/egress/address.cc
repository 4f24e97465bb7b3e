// SPDX-License-Identifier: Apache-2.0
// Two tables: the ranges, and where an IPv6 address carries an IPv4 one.
#include "egress/address.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cordon::egress {
namespace {

using Range = AddressRange;

struct Prefix {
  std::array<std::uint8_t, 16> bytes{};
  unsigned bits = 0;
};

constexpr Prefix quad(std::array<std::uint8_t, 4> quad, unsigned bits) {
  Prefix prefix{.bits = bits};
  std::ranges::copy(quad, prefix.bytes.begin());
  return prefix;
}

// The groups of an IPv6 prefix; those left out are 0.
constexpr Prefix groups(std::array<std::uint16_t, 8> groups, unsigned bits) {
  Prefix prefix{.bits = bits};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    prefix.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8U);
    prefix.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xFFU);
  }
  return prefix;
}

struct Row {
  Prefix prefix;
  Range range;
};

// In both tables the first row that holds an address decides: narrow ones before wide ones. What no
// row holds is public.
constexpr Row kIpv4[] = {
    {quad({169, 254, 169, 254}, 32), Range::metadata},  // most clouds
    {quad({169, 254, 170, 2}, 32), Range::metadata},    // AWS, tasks
    {quad({169, 254, 170, 23}, 32), Range::metadata},   // AWS, pods
    {quad({100, 100, 100, 200}, 32), Range::metadata},  // Alibaba
    {quad({168, 63, 129, 16}, 32), Range::metadata},    // Azure
    {quad({192, 0, 0, 192}, 32), Range::metadata},      // Oracle
    {quad({0, 0, 0, 0}, 8), Range::unspecified},
    {quad({10, 0, 0, 0}, 8), Range::private_},
    {quad({100, 64, 0, 0}, 10), Range::shared},
    {quad({127, 0, 0, 0}, 8), Range::loopback},
    {quad({169, 254, 0, 0}, 16), Range::link_local},
    {quad({172, 16, 0, 0}, 12), Range::private_},
    {quad({192, 0, 0, 0}, 24), Range::reserved},
    {quad({192, 0, 2, 0}, 24), Range::documentation},
    {quad({192, 88, 99, 0}, 24), Range::transition},  // relays of 6to4
    {quad({192, 168, 0, 0}, 16), Range::private_},
    {quad({198, 18, 0, 0}, 15), Range::synthetic},
    {quad({198, 51, 100, 0}, 24), Range::documentation},
    {quad({203, 0, 113, 0}, 24), Range::documentation},
    {quad({224, 0, 0, 0}, 4), Range::multicast},
    {quad({255, 255, 255, 255}, 32), Range::broadcast},
    {quad({240, 0, 0, 0}, 4), Range::reserved},
};

constexpr Row kIpv6[] = {
    {groups({0, 0, 0, 0, 0, 0, 0, 0}, 128), Range::unspecified},
    {groups({0, 0, 0, 0, 0, 0, 0, 1}, 128), Range::loopback},
    {groups({0xfd00, 0xec2}, 32), Range::metadata},                           // AWS
    {groups({0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254}, 128), Range::metadata},     // Google
    {groups({0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42}, 128), Range::metadata},      // Scaleway
    {groups({0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe}, 128), Range::metadata},  // OpenStack
    {groups({0xfc00}, 7), Range::private_},
    {groups({0xfe80}, 10), Range::link_local},
    {groups({0xff00}, 8), Range::multicast},
    {groups({0x64, 0xff9b, 1}, 48), Range::transition},  // a site's own NAT64: where the IPv4
                                                         // address lies is the site's choice
    {groups({0x2001, 2}, 48), Range::benchmark},
    {groups({0x2001, 0}, 23), Range::reserved},  // protocols
    {groups({0x2001, 0xdb8}, 32), Range::documentation},
    {groups({0x3fff}, 20), Range::documentation},
    {groups({0x2000}, 3), Range::public_},
    {groups({}, 0), Range::reserved},  // nothing else is assigned
};

// An IPv6 prefix below which an IPv4 address lies at byte `at`, every bit of it flipped by `flip`.
// `dialled`: packets to it honestly arrive at the IPv4 address, so that a public one is public; the
// others have no use but to hide one.
struct Embedding {
  Prefix prefix;
  std::uint8_t at;
  std::uint8_t flip;
  bool dialled;
};

constexpr Embedding kEmbeddings[] = {
    {groups({0, 0, 0, 0, 0, 0xffff}, 96), 12, 0, true},   // mapped
    {groups({0x64, 0xff9b}, 96), 12, 0, true},            // NAT64
    {groups({0, 0, 0, 0, 0xffff, 0}, 96), 12, 0, false},  // translated
    {groups({0, 0, 0, 0, 0, 0}, 96), 12, 0, false},       // compatible; after :: and ::1
    {groups({0x2002}, 16), 2, 0, false},                  // 6to4
    {groups({0x2001, 0}, 32), 12, 0xff, false},           // Teredo
};

bool holds(const Prefix& prefix, std::span<const std::uint8_t> address) {
  const std::size_t whole = prefix.bits / 8;
  const unsigned rest = prefix.bits % 8;
  if (!std::ranges::equal(std::span{prefix.bytes}.first(whole), address.first(whole))) return false;
  return rest == 0 || ((prefix.bytes[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

Range range_in(std::span<const Row> table, std::span<const std::uint8_t> address) {
  const auto row =
      std::ranges::find_if(table, [&](const Row& each) { return holds(each.prefix, address); });
  return row == table.end() ? Range::public_ : row->range;
}

os::IpAddress taken_from(std::span<const std::uint8_t> address, const Embedding& embedding) {
  std::array<std::uint8_t, 4> quad{};
  for (std::size_t i = 0; i < quad.size(); ++i)
    quad.at(i) = address[embedding.at + i] ^ embedding.flip;
  return os::IpAddress::v4(quad);
}

bool is_own(const os::IpAddress& address, const JudgedAddress& judged,
            std::span<const os::IpAddress> own) {
  return std::ranges::any_of(own, [&](const os::IpAddress& each) {
    return each == address || (judged.inside && each == *judged.inside);
  });
}

}  // namespace

std::string_view to_string(AddressRange range) noexcept {
  switch (range) {
    case Range::public_:
      return "a public address";
    case Range::private_:
      return "a private address";
    case Range::shared:
      return "a provider's shared address";
    case Range::metadata:
      return "the metadata service of a cloud";
    case Range::loopback:
      return "a loopback address";
    case Range::link_local:
      return "a link-local address";
    case Range::multicast:
      return "a multicast address";
    case Range::broadcast:
      return "the broadcast address";
    case Range::unspecified:
      return "an unspecified address";
    case Range::documentation:
      return "an address for documentation";
    case Range::benchmark:
      return "an address for benchmarks";
    case Range::synthetic:
      return "an address that stands for a name inside a sandbox";
    case Range::reserved:
      return "a reserved address";
    case Range::transition:
      return "an IPv4 address hidden in an IPv6 one";
  }
  return "a reserved address";
}

JudgedAddress classify(const os::IpAddress& address) {
  if (!address.is_v6()) return {.range = range_in(kIpv4, address.bytes())};
  const Range range = range_in(kIpv6, address.bytes());
  if (range == Range::unspecified || range == Range::loopback) return {.range = range};
  for (const Embedding& embedding : kEmbeddings) {
    if (!holds(embedding.prefix, address.bytes())) continue;
    const os::IpAddress inside = taken_from(address.bytes(), embedding);
    const Range judged = range_in(kIpv4, inside.bytes());
    const bool hidden = judged == Range::public_ && !embedding.dialled;
    return {.range = hidden ? Range::transition : judged, .inside = inside};
  }
  return {.range = range};
}

std::string listed_as(const os::IpAddress& address) {
  const auto inside = classify(address).inside;
  return (inside ? *inside : address).text();
}

policy::AddressKind kind_of(AddressRange range) noexcept {
  switch (range) {
    case Range::public_:
      return policy::AddressKind::public_;
    case Range::private_:
    case Range::shared:
      return policy::AddressKind::private_;
    default:
      return policy::AddressKind::forbidden;
  }
}

std::optional<AddressRefusal> refuse_address(const os::IpAddress& address,
                                             policy::Addresses allowed,
                                             std::span<const os::IpAddress> own) {
  const JudgedAddress judged = classify(address);
  std::string shown = address.text();
  if (judged.inside) shown += fmt::format(" ({})", judged.inside->text());
  if (is_own(address, judged, own)) {
    return AddressRefusal{judged.range, shown + " is an address of this host"};
  }
  const policy::AddressKind kind = kind_of(judged.range);
  const bool fits =
      kind == policy::AddressKind::public_ ||
      (kind == policy::AddressKind::private_ && allowed == policy::Addresses::private_);
  if (fits) return std::nullopt;
  return AddressRefusal{judged.range, fmt::format("{} is {}", shown, to_string(judged.range))};
}

}  // namespace cordon::egress
