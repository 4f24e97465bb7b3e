// SPDX-License-Identifier: Apache-2.0
// What a gateway keeps, on the heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fleet/roster.h"

namespace cordon::simulation {

// Bytes that go with it.
std::size_t heap_of(fleet::Roster roster);

// What has no code in a gateway yet: revocations by their ids, each until it expires, and the
// policy of each tenant as it was sent.
std::size_t heap_of_revocations(std::size_t count);
std::size_t heap_of_revocations_with_tenants(std::size_t count);  // as nodes keep theirs
std::size_t heap_of_policies(std::size_t count, std::size_t bytes);

// On paper: two TLS connections to each node of 40 kB each, and the program with gRPC before it
// knows anything, as was measured when the engine was chosen.
constexpr std::size_t kTlsToNode = std::size_t{2} * 40'000;
constexpr std::size_t kEmptyGateway = 16'000'000;

}  // namespace cordon::simulation
