// SPDX-License-Identifier: Apache-2.0
// Which records somebody wants to see: terms like `event=act_refused` and `bytes_out>1000000`, all
// of which must hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/record_fields.h"
#include "base/result.h"

namespace cordon::audit {

// TERM: FIELD OPERATOR VALUE[,VALUE…], perhaps with a `!` before it.
//   =  != one of the values; `*` in one stands for any letters
//   <  <= > >= a number; or a time, for `time`: 2026-11-17, 2026-11-17T04:10, …T04:10:33, all UTC
// A field that a record does not have fulfils no term but one that is negated: `!` or `!=`.
class Query {
 public:
  static constexpr std::size_t kMostTerms = 32;
  static constexpr std::size_t kMostValues = 64;
  static constexpr std::size_t kLongestTerm = 4096;

  // `invalid`: says which term, what is wrong with it, and what was probably meant.
  static Result<Query> parse(std::span<const std::string> terms);

  bool accepts(const Record& record) const;

 private:
  enum class Compare : std::uint8_t { equal, below, at_most, above, at_least };
  struct Term {
    std::string field;
    Compare compare = Compare::equal;
    bool is_negated = false;
    std::vector<std::string> patterns;  // of `equal`
    std::uint64_t number = 0;           // of the others
    bool accepts(std::span<const RecordField> fields) const;
    bool accepts(const RecordField& field) const;
  };
  static Result<Term> parse_term(std::string_view text);
  static Status parse_values(Term& term, std::string_view text);

  std::vector<Term> terms_;
};

// Milliseconds since 1970 of "2026-11-17", "2026-11-17T04:10" or "2026-11-17T04:10:33", perhaps
// with a Z behind it. `invalid`: it is none.
Result<std::uint64_t> parse_time(std::string_view text);

}  // namespace cordon::audit
