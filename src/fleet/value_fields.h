// SPDX-License-Identifier: Apache-2.0
// The fields of what others have written to etcd, each within its bounds (pure).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/value.h"

namespace cordon::fleet {

// Both outlive it. `what`: "a rollout", for messages. All errors are `invalid`.
class ValueFields {
 public:
  ValueFields(const policy::Value& of, std::string_view what) : of_{of}, what_{what} {}

  // What is no object has no fields.
  const policy::Value* find(std::string_view key) const {
    return of_.table() == nullptr ? nullptr : of_.find(key);
  }
  Result<std::int64_t> number(std::string_view key, std::int64_t least, std::int64_t most) const;
  Result<std::string> text(std::string_view key, std::size_t longest) const;
  Result<bool> truth(std::string_view key) const;

  Error wrong(std::string_view key) const;

 private:
  const policy::Value& of_;
  std::string_view what_;
};

}  // namespace cordon::fleet
