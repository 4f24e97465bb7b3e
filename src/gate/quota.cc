// SPDX-License-Identifier: Apache-2.0
#include "gate/quota.h"

#include <algorithm>

#include "policy/shape.h"
#include "policy/value.h"

namespace cordon::gate {
namespace {

std::optional<std::uint64_t> lesser_of(std::optional<std::uint64_t> one,
                                       std::optional<std::uint64_t> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

Quota read_quota(const policy::Section& section) {
  Quota quota;
  if (const auto stated = section.integer("sandboxes")) quota.sandboxes = stated->value;
  if (const auto stated = section.integer("creates_per_second")) {
    quota.creates_per_second = stated->value;
  }
  if (const policy::Value* cpus = section.find("cpus")) {
    const auto milli = cpus->integer() != nullptr ? std::optional{*cpus->integer() * 1000}
                                                  : policy::milli_cpus_from(*cpus->text());
    if (milli) quota.milli_cpus = static_cast<std::uint64_t>(*milli);
  }
  if (const auto stated = section.size("memory")) quota.memory = stated->value;
  if (const auto stated = section.integer("requests")) quota.requests = stated->value;
  return quota;
}

Quota lesser(const Quota& one, const Quota& other) {
  return {.sandboxes = lesser_of(one.sandboxes, other.sandboxes),
          .creates_per_second = lesser_of(one.creates_per_second, other.creates_per_second),
          .milli_cpus = lesser_of(one.milli_cpus, other.milli_cpus),
          .memory = lesser_of(one.memory, other.memory),
          .requests = std::min(one.requests, other.requests)};
}

}  // namespace cordon::gate
