// SPDX-License-Identifier: Apache-2.0
#include "os/filter/judged_call.h"

#include <algorithm>

#include "os/bpf_machine.h"

namespace cordon::os {
namespace {

struct NamedCall {
  std::uint32_t number;
  std::string_view name;
};

// kCallNames, by number: written by the generator.
#include "os/filter/call_names.inc"

}  // namespace

std::string_view call_name(std::uint32_t number) {
  const auto* const found = std::ranges::lower_bound(kCallNames, number, {}, &NamedCall::number);
  return found != std::end(kCallNames) && found->number == number ? found->name
                                                                  : std::string_view{};
}

int refused_with(FilterProgram filter, std::uint32_t number,
                 const std::array<std::uint64_t, 6>& arguments) {
  const BpfOutcome outcome = run_bpf(filter, make_call_data(static_cast<int>(number), arguments));
  if (outcome.answer == kNoAnswer) return 0;
  const bool is_errno = (outcome.answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
  return is_errno ? static_cast<int>(outcome.answer & SECCOMP_RET_DATA) : 0;
}

}  // namespace cordon::os
