// SPDX-License-Identifier: Apache-2.0
// A channel to each member. For transport.cc and stream.cc alone: it includes gRPC.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <memory>
#include <vector>

#include "etcd/transport.h"

namespace cordon::etcd {

struct Transport::Channels {
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs;
};

}  // namespace cordon::etcd
