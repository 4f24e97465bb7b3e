// SPDX-License-Identifier: Apache-2.0
// Why a request was refused, in the form of RFC 9457: for a program by its code, for a person and
// an agent in words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/problem.h"
#include "record/denial.h"

namespace cordon::wire {

struct ProblemAnswer {
  int status = 500;
  std::string code;                       // stable: "CORDON-API-NOT-FOUND"
  std::string detail;                     // what was tried and which rule says no
  std::string remedy;                     // what to do next; may be empty
  std::vector<policy::Problem> problems;  // of a document, all of them
  std::vector<Denial> denials;            // of a plan, all of them
  std::string entry;                      // of an archive: where it was refused
  std::string rule;                       // and by which rule: "unsafe_path"
  std::string no_room;                    // "full": another node may take it; said in a header
  std::string moved;                      // "1.2", where it goes on, or "here": said in a header
};

// The header of an answer about a sandbox that a node had, with the node where it goes on; or, from
// that node, "here": it is about to be found there.
inline constexpr std::string_view kMovedField = "Cordon-Moved";

// By what the client can do about it.
ProblemAnswer problem_of(const Error& error);

std::string to_json(const ProblemAnswer& problem);

}  // namespace cordon::wire
