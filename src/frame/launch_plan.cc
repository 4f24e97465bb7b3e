// SPDX-License-Identifier: Apache-2.0
#include "frame/launch_plan.h"

#include "frame/fields.h"

namespace cordon::frame {

std::string_view to_string(Platform platform) noexcept {
  switch (platform) {
    case Platform::old_ptrace:
      return "old-ptrace";
    case Platform::ptrace:
      return "ptrace";
    case Platform::systrap:
      return "systrap";
  }
  return {};
}

std::optional<Platform> platform_from(std::string_view text) noexcept {
  for (const Platform platform : {Platform::old_ptrace, Platform::ptrace, Platform::systrap}) {
    if (text == to_string(platform)) return platform;
  }
  return std::nullopt;
}

std::vector<std::byte> encode(const LaunchPlan& plan) {
  ByteWriter out;
  FieldWriter{out}.put(plan);
  return std::move(out).take();
}

Result<ReceivedPlan> decode_plan(std::span<const std::byte> bytes) {
  if (bytes.size() > kLongestPlan) return Error{Errc::invalid, "a plan of too many bytes"};
  ByteReader in{bytes};
  LaunchPlan plan;
  TRY_DO(FieldReader{in}.get(plan));
  TRY_DO(in.finish());
  return ReceivedPlan{std::move(plan)};
}

}  // namespace cordon::frame
