// SPDX-License-Identifier: Apache-2.0
#include "wire/signal_name.h"

#include <string_view>

#include "policy/value.h"

namespace cordon::wire {
namespace {

struct SignalName {
  std::string_view name;
  std::uint8_t number;
};
// As on every machine that Cordon runs on.
constexpr SignalName kSignals[] = {{"SIGHUP", 1},   {"SIGINT", 2},   {"SIGQUIT", 3},
                                   {"SIGABRT", 6},  {"SIGKILL", 9},  {"SIGUSR1", 10},
                                   {"SIGUSR2", 12}, {"SIGTERM", 15}, {"SIGCONT", 18},
                                   {"SIGSTOP", 19}, {"SIGTSTP", 20}, {"SIGWINCH", 28}};

}  // namespace

std::uint8_t signal_in(const policy::Section& top) {
  const policy::Value* const signal = top.find("signal");
  if (signal == nullptr) {
    top.problems().add({1, 1}, "`signal` is missing: a name as \"SIGTERM\", or its number");
    return 0;
  }
  if (const std::string* const name = signal->text()) {
    for (const SignalName& known : kSignals) {
      if (*name == known.name || "SIG" + *name == known.name) return known.number;
    }
  } else if (const std::int64_t* const number = signal->integer()) {
    if (*number >= 1 && *number <= 64) return static_cast<std::uint8_t>(*number);
  }
  top.problem("signal",
              "`signal`: expected a name as \"SIGTERM\" or \"KILL\", or a number from 1 "
              "to 64");
  return 0;
}

}  // namespace cordon::wire
