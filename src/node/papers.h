// SPDX-License-Identifier: Apache-2.0
// What a sandbox was made with and has become since, in words that another node can read: with them
// one goes on there that is no wider, no younger and no richer than this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"
#include "frame/guest.h"
#include "frame/response.h"
#include "node/held_grant.h"
#include "policy/policy.h"

namespace cordon::node {

// One document of a policy, as JSON.
struct Paper {
  std::uint8_t origin = 0;
  std::string policy;
  CORDON_FIELDS(Paper, self.origin, self.policy);
};

// Of what is given once.
struct Spent {
  std::uint64_t cpu_milliseconds = 0;
  std::uint64_t output = 0;  // bytes, as is
  std::uint64_t sent = 0;    // to the network
  CORDON_FIELDS(Spent, self.cpu_milliseconds, self.output, self.sent);
};

// No secret is in it.
struct Papers {
  std::vector<Paper> documents;         // the request's first; none: it cannot be made elsewhere
  std::vector<std::string> narrowings;  // since then, in their order
  Spent spent;                          // at nodes before this one
  // What opens its services and its ports, by the key of the node that made its name; empty: ours.
  std::string services;
  std::string traffic;
  std::string arrived;   // by which move it came here; empty: it was made here
  std::string arriving;  // by which move it is about to come: nobody finds it yet
  std::string leaving;   // by which move it is about to leave
  std::string left_for;  // "1.2": it has left for good, whether or not it has ended yet
  CORDON_FIELDS(Papers, self.documents, self.narrowings, self.spent, self.services, self.traffic,
                self.arrived, self.arriving, self.leaving, self.left_for);
};

// Each document once, the request's first. None where one of them was not parsed, or none is a
// request's: then nobody can say it again.
std::vector<Paper> papers_of(const policy::Policy& policy);
// `first` may be more than a request's says: what a node adds to one that says nothing.
// `invalid`: this node cannot read them.
Result<policy::Policy> policy_of(const std::vector<Paper>& papers, policy::Problems& problems,
                                 void (*add_defaults)(policy::PolicyDocument& first));

std::string papers_text(const Papers& papers);
Result<Papers> read_papers(std::string_view text);

// All that the next node gets, but for the files.
struct Traveller {
  std::string id;
  std::string tenant;
  std::uint64_t created = 0;  // milliseconds since 1970, as is
  std::uint64_t expires = 0;
  std::string labels;  // as the journal keeps them
  Papers papers;
  std::string grants;  // the same; only those that it still has
  std::vector<frame::Response> responses;
  std::vector<frame::Start> standby;  // what is to run in it from the start on: one, or none
  CORDON_FIELDS(Traveller, self.id, self.tenant, self.created, self.expires, self.labels,
                self.papers, self.grants, self.responses, self.standby);
};
std::string traveller_text(const Traveller& traveller);
Result<Traveller> read_traveller(std::string_view text);

}  // namespace cordon::node
