// SPDX-License-Identifier: Apache-2.0
// Which addresses may be dialled: every address lies in exactly one range, and only some ranges are
// the public Internet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "os/ip_address.h"
#include "policy/document.h"
#include "policy/host.h"

namespace cordon::egress {

enum class AddressRange : std::uint8_t {
  public_,
  private_,  // RFC 1918, unique local
  shared,    // 100.64/10, between a provider and its customers
  metadata,  // where a cloud hands out the credentials of its machines
  loopback,
  link_local,
  multicast,
  broadcast,
  unspecified,  // "this host on this network"
  documentation,
  benchmark,
  synthetic,   // 198.18/15: what our own DNS answers with; never an address outside
  reserved,    // unassigned, special or retired
  transition,  // IPv6 that some relay turns into IPv4: 6to4, Teredo and their like
};
// In words, to follow "is": "a private address".
std::string_view to_string(AddressRange range) noexcept;

// An address as it is judged: the IPv4 address inside an IPv6 one, where a kernel or a gateway
// would send the packets there.
struct JudgedAddress {
  AddressRange range = AddressRange::reserved;
  std::optional<os::IpAddress> inside;  // for a message: "64:ff9b::a00:1 (10.0.0.1)"

  friend bool operator==(const JudgedAddress&, const JudgedAddress&) = default;
};
JudgedAddress classify(const os::IpAddress& address);
// As a deny-list names it: the IPv4 address inside, where there is one.
std::string listed_as(const os::IpAddress& address);

// The same in the policy's three kinds. Agrees with policy::kind_of for every IPv4 address.
policy::AddressKind kind_of(AddressRange range) noexcept;

struct AddressRefusal {
  AddressRange range = AddressRange::reserved;
  std::string why;  // "10.0.0.1 is a private address"

  friend bool operator==(const AddressRefusal&, const AddressRefusal&) = default;
};

// Nothing: the address may be dialled. `allowed` is what the rule that allowed the name says about
// its addresses: `private_` means private ones too. `own`: the addresses of this host, refused
// whatever the rule says, in each spelling.
std::optional<AddressRefusal> refuse_address(const os::IpAddress& address,
                                             policy::Addresses allowed,
                                             std::span<const os::IpAddress> own);

}  // namespace cordon::egress
