// SPDX-License-Identifier: Apache-2.0
#include "monitor/intent.h"

#include <algorithm>

#include <climits>

#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

// As much as the program in the kernel tells.
constexpr std::size_t kMostArguments = 1024;
constexpr std::size_t kMostAddress = 110;
constexpr std::int32_t kWorkingDirectory = -100;  // AT_FDCWD

std::string base_at(const os::SeccompNotification& call, std::optional<unsigned> base) {
  const auto number = base ? static_cast<std::int32_t>(call.arguments[*base]) : kWorkingDirectory;
  const auto place = number == kWorkingDirectory ? os::directory_of(call.pid)
                                                 : os::descriptor_of(call.pid, number);
  return place && place->starts_with('/') ? *place : "";
}

IntendedPath path_at(const os::SeccompNotification& call, const CallKind::Place& place) {
  IntendedPath path;
  if (auto text = os::read_text_of(call.pid, call.arguments[place.path], PATH_MAX)) {
    path.used = *std::move(text);
  }
  if (!path.used.starts_with('/')) path.base = base_at(call, place.base);
  return path;
}

}  // namespace

std::optional<Intent> read_intent(const os::SeccompNotification& call) {
  const auto number = static_cast<std::uint32_t>(call.number);
  const auto kind = call_kind_of(number);
  if (!kind) return std::nullopt;
  Intent intent{.of = kind->of, .call = number, .arguments = call.arguments};
  if (kind->of == CallKind::Of::connect) {
    const auto length = std::min<std::uint64_t>(call.arguments[2], kMostAddress);
    if (auto bytes = os::read_bytes_of(call.pid, call.arguments[1], length)) {
      intent.address = *std::move(bytes);
    }
    return intent;
  }
  intent.path = path_at(call, kind->first);
  if (kind->second) intent.second = path_at(call, *kind->second);
  if (kind->creates) intent.flags = CORDON_OPEN_WRITES;
  if (kind->flags) intent.flags = static_cast<std::uint32_t>(call.arguments[*kind->flags]);
  if (kind->of == CallKind::Of::exec) {
    intent.texts =
        os::read_texts_of(call.pid, call.arguments[kind->first.path + 1], kMostArguments);
    if (auto directory = os::directory_of(call.pid)) intent.directory = *std::move(directory);
  }
  return intent;
}

}  // namespace cordon::monitor
