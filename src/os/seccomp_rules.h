// SPDX-License-Identifier: Apache-2.0
// The part of a seccomp program that looks at the arguments of one call.
#pragma once

#include <utility>
#include <vector>

#include "os/bpf_assembler.h"
#include "os/seccomp_compile.h"

namespace cordon::os {

class RuleWriter {
 public:
  // `assembler` must outlive it.
  RuleWriter(BpfAssembler& assembler, FilterAction otherwise)
      : assembler_{assembler}, otherwise_{otherwise} {}

  // The rules of one call, first match first. Lists that were written before are not written again.
  BpfAssembler::Target write(const std::vector<FilterRule>& rules);

 private:
  BpfAssembler& assembler_;
  FilterAction otherwise_;
  std::vector<std::pair<std::vector<FilterRule>, BpfAssembler::Target>> written_;
};

}  // namespace cordon::os
