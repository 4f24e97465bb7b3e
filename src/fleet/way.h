// SPDX-License-Identifier: Apache-2.0
// Where a request to a gateway goes: to the node of a sandbox, to one that takes a new sandbox, to
// all, or nowhere (pure).
#pragma once

#include <cstdint>
#include <string>

#include "http/head.h"

namespace cordon::fleet {

struct Way {
  enum class Kind : std::uint8_t {
    own,        // answered by the gateway
    sandbox,    // the node of `sandbox`
    create,     // a node with room
    sandboxes,  // a list of what all nodes have
    events,     // a stream of what happens on all nodes
    all,        // each node, the same request
    one,        // the node that the query names
    home,       // the node that has what a tenant has built
    anywhere,   // any node has the same answer
    nowhere,    // no gateway can tell which node is meant
  };
  Kind kind = Kind::anywhere;
  std::string sandbox;  // its name as it was sent, which may be none
  bool is_e2b = false;  // refusals in their words
  // Who asks is found by the node, from something that only it can judge.
  bool is_open = false;

  friend bool operator==(const Way&, const Way&) = default;
};

Way way_of(const http::RequestHead& head);

}  // namespace cordon::fleet
