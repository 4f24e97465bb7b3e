// SPDX-License-Identifier: Apache-2.0
// The condition that a tool rule puts on a call's arguments: JSON Schema, in a closed set of
// keywords.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/value.h"

namespace cordon::policy {

// Adds to `problems` every keyword that is not held. A keyword that the validator does not know
// would be ignored, and with it the condition: so the set is closed. `pattern` is left out on
// purpose: std::regex can be driven out of its stack by a long argument.
void check_argument_schema(const Value& schema, Problems& problems);

// JSON text of a tree.
std::string to_json(const Value& value);

class ArgumentSchema {
 public:
  // `text` is a schema that check_argument_schema let pass, as JSON.
  static Result<ArgumentSchema> compile(const std::string& text);

  // Whether `arguments`, one JSON object, satisfies the schema. Nothing where it cannot be judged
  // (another value, a duplicate key, NUL in a text, nesting past kDeepestValue): the caller must
  // refuse, because a rule that denies by its condition would otherwise be talked away.
  std::optional<bool> accepts(std::string_view arguments) const;

 private:
  struct Compiled;
  explicit ArgumentSchema(std::shared_ptr<const Compiled> compiled)
      : compiled_{std::move(compiled)} {}
  // Shared by all copies of a Policy, which never change it.
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cordon::policy
