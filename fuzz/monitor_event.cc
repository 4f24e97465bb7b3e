// SPDX-License-Identifier: Apache-2.0
// Any bytes as an event of the kernel's: refused, or told as a record that is read as it was
// written. Whoever is inside writes the texts of it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "audit/record.h"
#include "monitor/told.h"
#include "promise.h"

namespace {

const cordon::policy::Policy& policy() {
  static const auto kPolicy = [] {
    cordon::policy::PolicyDocument document;
    document.sources.push_back({"p.toml", cordon::policy::Origin::user});
    document.filesystem.protect.items.push_back({"*.lock", {}});
    return cordon::policy::check(std::move(document), cordon::policy::Origin::user, {});
  }();
  if (!kPolicy) cordon::fuzz::broken("the policy of the test is one");
  return *kPolicy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cordon::fuzz::broken;
  namespace audit = cordon::audit;
  const auto seen = cordon::monitor::read_seen(std::as_bytes(std::span{data, size}));
  if (!seen) return 0;
  const auto told =
      cordon::monitor::told_of(*seen, {.files = &policy(), .workspace = "/workspace"});
  if (!told) return 0;
  const audit::Record record{.number = 7,
                             .time = {},
                             .ticks = 7,
                             .before = {},
                             .subject = {.tenant = "acme", .sandbox = "k7f3"},
                             .event = *told,
                             .cuts = {}};
  const auto again = audit::decode(audit::encode(record));
  if (!again) broken("what is told is a record");
  return 0;
}
