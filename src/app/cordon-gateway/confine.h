// SPDX-License-Identifier: Apache-2.0
// What cordon-gateway gives up before it reads the first byte of a client.
#pragma once

#include "base/result.h"
#include "fleet/gateway_settings.h"

namespace cordon::gateway {

// From here on the process opens files in its own directory alone, executes nothing, gets no rights
// and makes no calls that the wider filter of workloads refuses. Before: there is one thread, and
// what `settings` names was read.
Status confine(const fleet::GatewaySettings& settings);

}  // namespace cordon::gateway
