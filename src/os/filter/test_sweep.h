// SPDX-License-Identifier: Apache-2.0
// For tests: what the programs of all profiles answer to every number, and to every value at and
// around those that a rule of any profile names, as a text that can be read and compared.
#pragma once

#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "os/filter/test_inputs.h"

namespace cordon::os {

inline constexpr std::size_t kProfileCount = std::size(kFilterProfiles);
// In the order of kFilterProfiles.
using AllPrograms = std::array<FilterProgram, kProfileCount>;

inline AllPrograms built_programs() {
  AllPrograms all;
  for (std::size_t i = 0; i < kProfileCount; ++i) all[i] = filter_program(kFilterProfiles[i]);
  return all;
}

inline constexpr std::string_view kSweepLetters =
    "# One letter for each filter: A allow, N notify, K kill; refused with S ENOSYS, P EPERM,\n"
    "# I EINVAL, T ENOTTY, F EAFNOSUPPORT, R EPROTONOSUPPORT, O EOPNOTSUPP.\n";

inline char letter_of(std::uint32_t answer) {
  if (answer == SECCOMP_RET_ALLOW) return 'A';
  if (answer == SECCOMP_RET_USER_NOTIF) return 'N';
  if (answer == SECCOMP_RET_KILL_PROCESS) return 'K';
  static const std::map<std::uint32_t, char> letters = {
      {ENOSYS, 'S'},       {EPERM, 'P'},           {EINVAL, 'I'},    {ENOTTY, 'T'},
      {EAFNOSUPPORT, 'F'}, {EPROTONOSUPPORT, 'R'}, {EOPNOTSUPP, 'O'}};
  const auto found = letters.find(answer ^ SECCOMP_RET_ERRNO);
  return found == letters.end() ? '?' : found->second;
}

// Which arguments of a call some profile asks about, and what is tried for each.
using Tried = std::map<unsigned, std::set<std::uint64_t>>;

// Made once: the table does not change.
inline const std::map<int, Tried>& tried_by_call() {
  static const std::map<int, Tried> tried = [] {
    std::map<int, Tried> all;
    for (const FilterProfile profile : kFilterProfiles) {
      for (const auto& [number, row] : profile_table(profile)) {
        for (const Clause& clause : row.clauses) {
          for (const ArgumentTest& test : clause.when) {
            std::set<std::uint64_t>& values = all[number][test.index];
            add_candidates(test, values);
            values.insert({0, ~std::uint64_t{0}, kJunkAbove});
          }
        }
      }
    }
    return all;
  }();
  return tried;
}

class Sweep {
 public:
  explicit Sweep(const AllPrograms& programs) : programs_{programs} {}

  // One block for each call; calls without arguments to ask about that follow each other with the
  // same answers share a line.
  std::string text() {
    const auto& tried = tried_by_call();
    std::string out{kSweepLetters};
    out += "# " + profile_names() + "\n";
    CallArguments none{};
    none.fill(0x5A5A'5A5A'0000'0000ULL);
    out += fmt::format("i386: {}\n", answers(0, none, kOtherArch));
    for (int number = 0; number <= kLast;) {
      if (const auto found = tried.find(number); found != tried.end()) {
        out += fmt::format("{}:\n{}", number, block(number, none, found->second, 1));
        ++number;
        continue;
      }
      const std::string same = answers(number, none);
      int last = number;
      while (last < kLast && !tried.contains(last + 1) && answers(last + 1, none) == same) ++last;
      out += last == number ? fmt::format("{}: {}\n", number, same)
                            : fmt::format("{}-{}: {}\n", number, last, same);
      number = last + 1;
    }
    for (const std::uint32_t number : {0x40000000U, 0x40000001U, 0x400001FFU, 0x7FFFFFFFU, ~0U}) {
      out += fmt::format("{:#x}: {}\n", number, answers(static_cast<int>(number), none));
    }
    return out;
  }

 private:
  static constexpr int kLast = 600;

  static std::string profile_names() {
    std::string names;
    for (const FilterProfile profile : kFilterProfiles) {
      names += (names.empty() ? "" : " ") + std::string{to_string(profile)};
    }
    return names;
  }

  std::string answers(int number, const CallArguments& arguments,
                      std::uint32_t arch = kNativeArch) const {
    std::string letters;
    const seccomp_data data = make_call_data(number, arguments, arch);
    for (const FilterProgram program : programs_)
      letters += letter_of(run_bpf(program, data).answer);
    return letters;
  }

  // Values of the first argument that lead to the same answers stand in one line.
  std::string block(int number, CallArguments arguments, const Tried& rest,
                    std::size_t depth) const {
    const auto& [index, values] = *rest.begin();
    const Tried others{std::next(rest.begin()), rest.end()};
    std::map<std::string, std::string> by_answer;
    std::vector<std::string> order;
    for (const std::uint64_t value : values) {
      arguments[index] = value;
      std::string below =
          others.empty() ? answers(number, arguments) : block(number, arguments, others, depth + 1);
      if (!by_answer.contains(below)) order.push_back(below);
      by_answer[std::move(below)] += fmt::format(" {:x}", value);
    }
    std::string out;
    for (const std::string& below : order) {
      const std::string indent(depth * 2, ' ');
      out += others.empty() ? fmt::format("{}a{}{}: {}\n", indent, index, by_answer[below], below)
                            : fmt::format("{}a{}{}:\n{}", indent, index, by_answer[below], below);
    }
    return out;
  }

  AllPrograms programs_;
};

}  // namespace cordon::os
