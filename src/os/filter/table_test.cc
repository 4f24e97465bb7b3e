// SPDX-License-Identifier: Apache-2.0
#include "os/filter/table.h"

#include <iostream>

#include <gtest/gtest.h>

#include "os/filter/test_inputs.h"

namespace cordon::os {
namespace {

std::vector<Call> all_rows() {
  std::vector<Call> rows{plain_calls().begin(), plain_calls().end()};
  rows.insert(rows.end(), absent_calls().begin(), absent_calls().end());
  for (const RefusedCall& row : compat_calls()) rows.push_back(row.call);
  for (const RefusedCall& row : refused_calls()) rows.push_back(row.call);
  for (const RuledCall& row : ruled_calls(FilterBase::strict)) rows.push_back(row.call);
  return rows;
}

TEST(FilterTable, HasEachCallInOneListOnly) {
  std::map<int, std::string_view> by_number;
  std::set<std::string_view> names;
  for (const Call& row : all_rows()) {
    EXPECT_TRUE(by_number.emplace(row.number, row.name).second) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

#if defined(__x86_64__)
TEST(FilterTable, DecidesEveryCallThatTheKernelHas) {
  std::set<int> numbers;
  for (const Call& row : all_rows()) numbers.insert(row.number);
  // 337 to 423 were never given out, and 470 is the last that we know.
  for (int number = 0; number <= 470; ++number) {
    EXPECT_EQ(numbers.contains(number), number <= 336 || number >= 424) << number;
  }
}
#endif

std::size_t allowed_calls(FilterProfile profile) {
  const ProfileTable table = profile_table(profile);
  return static_cast<std::size_t>(
      std::ranges::count_if(table, [](const auto& row) { return is_ever_allowed(row.second); }));
}

TEST(FilterTable, StrictAllowsAtMost240CallsAndCompat300) {
  for (const FilterProfile profile : kFilterProfiles) {
    const std::size_t calls = allowed_calls(profile);
    std::cout << to_string(profile) << ": " << calls << " calls, " << filter_program(profile).size()
              << " instructions\n";
    EXPECT_LE(calls, to_string(profile).starts_with("strict") ? 240U : 300U);
    EXPECT_GE(calls, 200U);
  }
}

TEST(FilterTable, NoClauseCouldBeLeftOut) {
  for (const FilterProfile profile : kFilterProfiles) {
    for (const auto& [number, row] : profile_table(profile)) {
      const auto inputs = candidates(row);
      for (const Clause& clause : row.clauses) {
        EXPECT_TRUE(std::ranges::any_of(inputs,
                                        [&](const CallArguments& arguments) {
                                          return decide(row, arguments) !=
                                                 decide(row, arguments, &clause);
                                        }))
            << to_string(profile) << ' ' << row.call.name << " clause "
            << (&clause - row.clauses.data());
      }
    }
  }
}

// Without it the clause would match more, and some call would be decided otherwise.
TEST(FilterTable, NoTestOfAnArgumentCouldBeLeftOut) {
  for (const FilterProfile profile : kFilterProfiles) {
    for (const auto& [number, row] : profile_table(profile)) {
      const auto inputs = candidates(row);
      for (std::size_t c = 0; c < row.clauses.size(); ++c) {
        for (std::size_t t = 0; t < row.clauses[c].when.size(); ++t) {
          RuledCall without = row;
          without.clauses[c].when.erase(without.clauses[c].when.begin() +
                                        static_cast<std::ptrdiff_t>(t));
          EXPECT_TRUE(std::ranges::any_of(inputs,
                                          [&](const CallArguments& arguments) {
                                            return decide(row, arguments) !=
                                                   decide(without, arguments);
                                          }))
              << to_string(profile) << ' ' << row.call.name << " clause " << c << " test " << t;
        }
      }
    }
  }
}

// C106: the junk that a caller may put where the kernel does not look changes nothing.
TEST(FilterTable, UpperHalvesDecideNothingWhereTheKernelTakesAnInt) {
  for (const auto& [number, row] : profile_table(FilterProfile::compat_nosetid_notify)) {
    std::set<unsigned> longs;
    for (const Clause& clause : row.clauses) {
      for (const ArgumentTest& test : clause.when) {
        if (test.op == ArgumentTest::Op::equal) longs.insert(test.index);
      }
    }
    for (const CallArguments& arguments : candidates(row)) {
      CallArguments clean = arguments;
      for (unsigned i = 0; i < clean.size(); ++i) {
        if (!longs.contains(i)) clean[i] &= kLowHalf;
      }
      ASSERT_EQ(decide(row, arguments), decide(row, clean)) << row.call.name;
    }
  }
}

// Filters only stack: what pid 1 may not do, no workload can.
TEST(FilterTable, EachWiderBaseAllowsWhatTheNarrowerDoes) {
  const auto expect_within = [](FilterProfile narrow, FilterProfile wide) {
    const ProfileTable wide_table = profile_table(wide);
    for (const auto& [number, row] : profile_table(narrow)) {
      for (const CallArguments& arguments : candidates(row)) {
        if (!is_past(decide(row, arguments))) continue;
        ASSERT_EQ(decide(wide_table.at(number), arguments), FilterAction::allow())
            << row.call.name << ": " << to_string(narrow) << " within " << to_string(wide);
      }
    }
  };
  expect_within(FilterProfile::strict, FilterProfile::compat);
  for (const FilterProfile profile : kFilterProfiles) expect_within(profile, FilterProfile::init);
}

TEST(FilterTable, VariantsOnlyRefuseOrTellMore) {
  for (const FilterProfile base : {FilterProfile::strict, FilterProfile::compat}) {
    const bool compat = base == FilterProfile::compat;
    const ProfileTable plain = profile_table(base);
    const ProfileTable notify =
        profile_table(compat ? FilterProfile::compat_notify : FilterProfile::strict_notify);
    const ProfileTable nosetid =
        profile_table(compat ? FilterProfile::compat_nosetid : FilterProfile::strict_nosetid);
    for (const auto& [number, row] : notify) {
      for (const CallArguments& arguments : candidates(row)) {
        const FilterAction was = decide(plain.at(number), arguments);
        const FilterAction is = decide(row, arguments);
        ASSERT_TRUE(is == was || (was == FilterAction::allow() && is == FilterAction::notify()))
            << row.call.name;
      }
    }
    EXPECT_EQ(notify.size(), plain.size());
    for (const auto& [number, row] : nosetid) {
      for (const CallArguments& arguments : candidates(row)) {
        const FilterAction was = decide(plain.at(number), arguments);
        const FilterAction is = decide(row, arguments);
        ASSERT_TRUE(is == was || is == FilterAction::fail(EPERM)) << row.call.name;
      }
    }
    EXPECT_EQ(nosetid.size(), plain.size() - 1) << "openat2 alone is gone";
  }
}

TEST(FilterProfile, HasANameThatFindsItAndItsProgram) {
  for (const FilterProfile profile : kFilterProfiles) {
    EXPECT_EQ(filter_profile_from_string(to_string(profile)), profile);
    const FilterProgram found = find_filter(to_string(profile)).value_or(FilterProgram{});
    EXPECT_EQ(found.data(), filter_program(profile).data());
    EXPECT_FALSE(found.empty());
  }
  EXPECT_FALSE(find_filter(""));
  EXPECT_FALSE(find_filter("strict+"));
  EXPECT_FALSE(find_filter("strict+notify+nosetid"));
  EXPECT_FALSE(find_filter("Strict"));
}

}  // namespace
}  // namespace cordon::os
