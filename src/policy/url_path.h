// SPDX-License-Identifier: Apache-2.0
// Paths of requests, and patterns over them: judged alike by a policy, and again by whoever holds
// the secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/glob.h"

namespace cordon::policy {

// Spellings that servers and proxies read in different ways are refused, never normalised: what was
// judged must be what is forwarded.
bool is_plain_url_path(std::string_view path) noexcept;

// "/" or a pattern of glob.h behind a slash, of characters that a plain path has. The error names
// the pattern.
Status check_url_pattern(std::string_view pattern);

class UrlPaths {
 public:
  // Before: check_url_pattern passed for each.
  explicit UrlPaths(const std::vector<std::string>& patterns);

  bool empty() const noexcept { return !root_ && set_.empty(); }
  // Before: is_plain_url_path(path).
  bool covers(std::string_view path) const noexcept;

 private:
  bool root_ = false;  // "/" itself is listed
  PatternSet set_;
};

}  // namespace cordon::policy
