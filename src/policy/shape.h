// SPDX-License-Identifier: Apache-2.0
// Holds a tree against the table of keys: nothing unknown, every value of its kind and within its
// bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/keys.h"
#include "policy/value.h"

namespace cordon::policy {

// Adds what is wrong to `problems`. Where nothing was added, every value has the kind that its key
// says. `keys`: of documents that are not policies; they need no meaning of `neutral` and
// `enforced`.
void check_shape(const Value& top, Problems& problems);
void check_shape(const Value& top, Problems& problems, std::span<const Key> keys);

// "512Mi", "4Gi", "1024": bytes. Nothing for any other spelling ("4G" is two different sizes to two
// readers).
std::optional<std::int64_t> size_from(std::string_view text) noexcept;

// "2", "0.5", "1.25" in thousandths; at most three decimals.
std::optional<std::int64_t> milli_cpus_from(std::string_view text) noexcept;

}  // namespace cordon::policy
