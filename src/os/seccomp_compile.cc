// SPDX-License-Identifier: Apache-2.0
// The seam to libseccomp.
#include "os/seccomp_compile.h"

#include <array>
#include <cstring>
#include <memory>
#include <seccomp.h>
#include <string>
#include <unistd.h>

#include "os/file.h"
#include "os/memfd.h"

namespace cordon::os {
namespace {

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

std::uint32_t to_action(const FilterAction& action) {
  switch (action.kind) {
    case FilterAction::Kind::allow:
      return SCMP_ACT_ALLOW;
    case FilterAction::Kind::fail:
      return SCMP_ACT_ERRNO(static_cast<std::uint16_t>(action.error_number));
    case FilterAction::Kind::notify:
      return SCMP_ACT_NOTIFY;
    case FilterAction::Kind::log:
      return SCMP_ACT_LOG;
    case FilterAction::Kind::kill_process:
      return SCMP_ACT_KILL_PROCESS;
  }
  return SCMP_ACT_KILL_PROCESS;
}

scmp_compare to_compare(ArgumentTest::Op op) {
  switch (op) {
    case ArgumentTest::Op::equal:
      return SCMP_CMP_EQ;
    case ArgumentTest::Op::not_equal:
      return SCMP_CMP_NE;
    case ArgumentTest::Op::less:
      return SCMP_CMP_LT;
    case ArgumentTest::Op::at_most:
      return SCMP_CMP_LE;
    case ArgumentTest::Op::greater:
      return SCMP_CMP_GT;
    case ArgumentTest::Op::at_least:
      return SCMP_CMP_GE;
    case ArgumentTest::Op::masked:
      return SCMP_CMP_MASKED_EQ;
  }
  return SCMP_CMP_EQ;
}

Error refused(const FilterRule& rule, std::string_view why) {
  return Error{Errc::invalid,
               "filter rule for call " + std::to_string(rule.syscall) + ": " + std::string{why}};
}

Status check_rule(const FilterRule& rule, const FilterSpec& spec) {
  // libseccomp gives numbers below zero to names that the architecture lacks, and takes them.
  if (rule.syscall < 0) return refused(rule, "no such number");
  if (rule.action == spec.otherwise) return refused(rule, "its action is the default");
  for (const ArgumentTest& test : rule.when) {
    if (test.index > 5) return refused(rule, "arguments are 0 to 5");
    const bool masked = test.op == ArgumentTest::Op::masked;
    if (masked && (test.value & ~test.mask) != 0) {
      return refused(rule, "a value with bits outside its mask never matches");
    }
    if (!masked && test.mask != 0) return refused(rule, "a mask without `masked`");
  }
  return {};
}

Status add_rule(const Context& context, const FilterRule& rule) {
  std::vector<scmp_arg_cmp> tests;
  for (const ArgumentTest& test : rule.when) {
    const bool masked = test.op == ArgumentTest::Op::masked;
    tests.push_back({.arg = test.index,
                     .op = to_compare(test.op),
                     .datum_a = masked ? test.mask : test.value,
                     .datum_b = masked ? test.value : 0});
  }
  // "Exact": libseccomp may otherwise rewrite a rule that the architecture cannot express.
  const int failed =
      seccomp_rule_add_exact_array(context.get(), to_action(rule.action), rule.syscall,
                                   static_cast<unsigned>(tests.size()), tests.data());
  if (failed != 0) {
    return Error::from_errno("seccomp_rule_add_exact_array", -failed)
        .with("filter rule for call " + std::to_string(rule.syscall));
  }
  return {};
}

Status set_attribute(const Context& context, scmp_filter_attr attribute, std::uint32_t value) {
  if (const int failed = seccomp_attr_set(context.get(), attribute, value); failed != 0) {
    return Error::from_errno("seccomp_attr_set", -failed);
  }
  return {};
}

Result<std::vector<sock_filter>> export_program(const Context& context) {
  constexpr std::size_t kMost = BPF_MAXINSNS * sizeof(sock_filter);
  TRY(const Fd file, memfd_create("seccomp-filter"));
  if (const int failed = seccomp_export_bpf(context.get(), file.get()); failed != 0) {
    return Error::from_errno("seccomp_export_bpf", -failed);
  }
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return Error::from_errno("lseek");
  TRY(const std::string bytes, read_all(file, kMost));
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(sock_filter));
  return program;
}

}  // namespace

Result<std::vector<sock_filter>> compile_filter(const FilterSpec& spec) {
  const Context context{seccomp_init(to_action(spec.otherwise)), &seccomp_release};
  if (!context) return Error{Errc::invalid, "seccomp_init: the default action is refused"};
  TRY_DO(set_attribute(context, SCMP_FLTATR_ACT_BADARCH, to_action(spec.foreign)));
  constexpr std::uint32_t kBinaryTree = 2;
  TRY_DO(set_attribute(context, SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree));
  for (const FilterRule& rule : spec.rules) {
    TRY_DO(check_rule(rule, spec));
    TRY_DO(add_rule(context, rule));
  }
  return export_program(context);
}

}  // namespace cordon::os
