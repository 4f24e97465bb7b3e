// SPDX-License-Identifier: Apache-2.0
// A message of a client as JSON: what is not known in it is passed over, as its own servers do;
// what can be read in two ways is not. (pure)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/value.h"

namespace cordon::api::e2b {

// An object and ways to its fields. A field that is absent or null is nothing; one of another kind
// is `invalid`. Names are given in camel case, and found in snake case too.
class Message {
 public:
  // `text` empty: an object without fields.
  static Result<Message> read(std::string_view text);

  // Where it is no object: `invalid`.
  Result<std::optional<Message>> object(std::string_view name) const;
  Result<std::vector<Message>> objects(std::string_view name) const;
  Result<std::optional<std::string>> text(std::string_view name) const;
  Result<std::optional<bool>> boolean(std::string_view name) const;
  // Also as a text of digits.
  Result<std::optional<std::int64_t>> number(std::string_view name) const;
  Result<std::vector<std::string>> texts(std::string_view name) const;
  Result<std::map<std::string, std::string>> texts_by_name(std::string_view name) const;
  // Base-64, in either alphabet, padded or not.
  Result<std::optional<std::string>> bytes(std::string_view name) const;

  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  explicit Message(policy::Value top) : top_{std::move(top)} {}
  // nullptr: absent, or null.
  const policy::Value* find(std::string_view name) const;

  policy::Value top_;
};

}  // namespace cordon::api::e2b
