// SPDX-License-Identifier: Apache-2.0
// Which names of a sandbox have their TLS terminated, and the authority that speaks for them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "egress/certificate_authority.h"
#include "policy/policy.h"

namespace cordon::egress {

// Names and "*.x" of rules that name methods or paths, and hosts that a credential is bound to.
std::vector<std::string> judged_names(const policy::Policy& policy);

// The sandbox's authority: from its slot where a predecessor left one, else a new one, which is in
// the slot before anybody is told of it. None where no name is judged.
Result<std::optional<CertificateAuthority>> open_authority(std::span<std::byte> slot,
                                                           const policy::Policy& policy,
                                                           WallTime now);

}  // namespace cordon::egress
