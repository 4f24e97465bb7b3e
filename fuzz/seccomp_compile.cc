// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table of system calls: it is refused, or its program (a tree) answers every call
// as the table does and as a second, linear compilation of it, at and around each number that a
// rule names.
#include "os/seccomp_compile.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <vector>

#include "os/seccomp_linear.h"
#include "os/seccomp_model.h"

namespace {

namespace os = cordon::os;
using Op = os::ArgumentTest::Op;

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}

  bool empty() const { return bytes_.empty(); }
  // 0 when there are none left.
  unsigned take() {
    if (bytes_.empty()) return 0;
    const unsigned byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  // Small numbers, numbers of the upper half, and any.
  std::uint64_t number() {
    const unsigned kind = take();
    std::uint64_t number = take();
    if ((kind & 1U) != 0) number = number << 8U | take();
    if ((kind & 2U) != 0) number <<= 24U;
    if ((kind & 4U) != 0) number |= std::uint64_t{take()} << 32U;
    if ((kind & 8U) != 0) number |= std::uint64_t{take()} << 56U;
    return (kind & 16U) != 0 ? ~number : number;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

os::FilterAction take_action(Bytes& bytes) {
  switch (bytes.take() % 6) {
    case 0:
      return os::FilterAction::allow();
    case 1:
      return os::FilterAction::notify();
    case 2:
      return os::FilterAction::log();
    case 3:
      return os::FilterAction::kill_process();
    default:
      return os::FilterAction::fail(static_cast<int>(bytes.take() % 3) + 1);
  }
}

os::ArgumentTest take_test(Bytes& bytes) {
  os::ArgumentTest test{.index = bytes.take() % 6, .op = static_cast<Op>(bytes.take() % 8)};
  test.value = bytes.number();
  if (test.op == Op::masked || test.op == Op::any_bit) {
    test.mask = bytes.number();
    test.value &= test.op == Op::masked ? test.mask : 0;
  }
  return test;
}

os::FilterSpec take_spec(Bytes& bytes) {
  os::FilterSpec spec{.otherwise = take_action(bytes), .foreign = take_action(bytes)};
  if (bytes.take() % 2 == 0) spec.x32 = take_action(bytes);
  // Many calls with one rule, or few with many.
  const unsigned calls = bytes.take() + 1;
  const unsigned most = bytes.take() * 2;
  for (unsigned i = 0; i < most && !bytes.empty(); ++i) {
    os::FilterRule rule{.syscall = static_cast<int>(bytes.take() % calls),
                        .action = take_action(bytes)};
    for (unsigned tests = bytes.take() % 4; tests > 0; --tests) {
      rule.when.push_back(take_test(bytes));
    }
    spec.rules.push_back(std::move(rule));
  }
  return spec;
}

struct Programs {
  std::vector<sock_filter> tree;
  std::vector<sock_filter> linear;
};

void compare(const os::FilterSpec& spec, const Programs& programs, const seccomp_data& data) {
  const std::uint32_t expected = os::model_answer(spec, data);
  const std::uint32_t tree = os::run_bpf(programs.tree, data).answer;
  const std::uint32_t linear = os::run_bpf(programs.linear, data).answer;
  if (tree == expected && linear == expected) return;
  std::cerr << "call " << data.nr << ": the table says " << std::hex << expected << ", the tree "
            << tree << ", the linear program " << linear << '\n';
  std::abort();
}

// The arguments that make `rule` match, as far as it goes, then each one off by a little.
void compare_around(const os::FilterSpec& spec, const Programs& programs,
                    const os::FilterRule& rule) {
  os::CallArguments matching{};
  for (const os::ArgumentTest& test : rule.when) {
    matching[test.index] = test.op == Op::any_bit ? test.mask : test.value;
  }
  compare(spec, programs, os::make_call_data(rule.syscall, matching));
  for (const os::ArgumentTest& test : rule.when) {
    for (const std::uint64_t change : std::initializer_list<std::uint64_t>{
             1, 1ULL << 31U, 1ULL << 32U, 1ULL << 63U, ~0ULL, test.mask, ~test.mask}) {
      os::CallArguments changed = matching;
      changed[test.index] ^= change;
      compare(spec, programs, os::make_call_data(rule.syscall, changed));
      changed[test.index] = matching[test.index] + change;
      compare(spec, programs, os::make_call_data(rule.syscall, changed));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes{{data, size}};
  const os::FilterSpec spec = take_spec(bytes);
  auto compiled = os::compile_filter(spec);
  if (!compiled) {
    if (compiled.error().code() != cordon::Errc::invalid || spec.rules.empty()) std::abort();
    return 0;
  }
  const Programs programs{*std::move(compiled), os::LinearCompiler::compile(spec)};
  for (int number = -2; number < 260; ++number) {
    compare(spec, programs, os::make_call_data(number));
  }
  for (const int number : {0x3FFFFFFF, 0x40000000, 0x40000001, 0x7FFFFFFF}) {
    compare(spec, programs, os::make_call_data(number));
  }
  compare(spec, programs, os::make_call_data(0, {}, os::kOtherArch));
  for (const os::FilterRule& rule : spec.rules) compare_around(spec, programs, rule);
  return 0;
}
