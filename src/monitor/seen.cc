// SPDX-License-Identifier: Apache-2.0
#include "monitor/seen.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "os/ip_address.h"
#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

constexpr std::int64_t kLargestErrno = 4095;

// Each ended by a zero byte; the last one may have been cut.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string up_to_zero(std::string_view text) {
  return std::string{text.substr(0, text.find('\0'))};
}

// Names, the last one first. A way that was too long has dots at its beginning.
std::string joined(std::string_view walked, bool is_cut) {
  const std::vector<std::string> names = split(walked);
  std::string path = is_cut ? "…" : "";
  for (auto name = names.rbegin(); name != names.rend(); ++name) path.append("/").append(*name);
  return path.empty() ? "/" : path;
}

std::string resolved(const cordon_event& event, const std::string& used, std::string_view walked) {
  std::string walk = joined(walked, event.is_cut != 0);
  if (event.walked == CORDON_WALKED_FILE) return walk;
  if (event.walked != CORDON_WALKED_BASE || used.starts_with('/')) return {};
  return walk + (walk.ends_with('/') ? "" : "/") + used;
}

}  // namespace

SeenConnect connect_of(std::string_view address) {
  ByteReader reader{as_bytes(address)};
  const auto family = reader.integer<std::uint16_t>();
  constexpr std::uint16_t kUnix = 1;
  constexpr std::uint16_t kV4 = 2;
  constexpr std::uint16_t kV6 = 10;
  if (!family) return {};
  if (*family == kUnix) {
    std::string_view name = address.substr(2);
    const bool is_abstract = name.starts_with('\0');
    if (is_abstract) name.remove_prefix(1);
    return {.address = (is_abstract ? "unix:@" : "unix:") + up_to_zero(name), .port = 0};
  }
  const auto high = reader.integer<std::uint8_t>();
  const auto low = reader.integer<std::uint8_t>();
  if (!high || !low) return {};
  const auto port = static_cast<std::uint16_t>(*high * 256U + *low);
  if (*family == kV6) static_cast<void>(reader.take(4));  // the flow
  const auto raw = reader.take(*family == kV4 ? 4 : 16);
  if (*family == kV4 && raw) {
    std::array<std::uint8_t, 4> quad{};
    std::memcpy(quad.data(), raw->data(), quad.size());
    return {.address = os::IpAddress::v4(quad).text(), .port = port};
  }
  if (*family == kV6 && raw) {
    std::array<std::uint8_t, 16> whole{};
    std::memcpy(whole.data(), raw->data(), whole.size());
    return {.address = os::IpAddress::v6(whole).text(), .port = port};
  }
  return {.address = "family " + std::to_string(*family), .port = 0};
}

Result<Seen> read_seen(std::span<const std::byte> bytes) {
  cordon_event event{};
  if (bytes.size() < sizeof event) return Error{Errc::invalid, "monitor: an event is too short"};
  std::memcpy(&event, bytes.data(), sizeof event);
  ByteReader reader{bytes.subspan(sizeof event)};
  std::array<std::string_view, CORDON_TEXTS> texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TRY(const auto text, reader.take(event.lengths[i]));
    texts[i] = as_text(text);
  }
  Seen seen{.group = event.group,
            .pid = event.pid,
            .parent = event.parent,
            .command = up_to_zero({event.command, sizeof event.command}),
            .call = event.call,
            .result = std::max<std::int64_t>(event.result, -kLargestErrno),
            .arguments = {},
            .what = SeenCall{}};
  std::ranges::copy(event.arguments, seen.arguments.begin());
  const std::string_view walked = texts[CORDON_TEXT_WALKED];
  switch (event.kind) {
    case CORDON_KIND_EXEC:
      seen.what = SeenExec{.program = up_to_zero(texts[CORDON_TEXT_USED]),
                           .arguments = split(texts[CORDON_TEXT_SECOND]),
                           .directory = joined(walked, event.is_cut != 0)};
      return seen;
    case CORDON_KIND_FILE: {
      std::string used = up_to_zero(texts[CORDON_TEXT_USED]);
      std::string where = resolved(event, used, walked);
      seen.what = SeenFile{.used = std::move(used),
                           .resolved = std::move(where),
                           .second = up_to_zero(texts[CORDON_TEXT_SECOND]),
                           .flags = event.flags,
                           .is_opened = event.walked == CORDON_WALKED_FILE};
      return seen;
    }
    case CORDON_KIND_CONNECT:
      seen.what = connect_of(texts[CORDON_TEXT_USED]);
      return seen;
    case CORDON_KIND_REFUSED:
      return seen;
    case CORDON_KIND_ENDED:
      seen.what = SeenEnd{};
      return seen;
    default:
      return Error{Errc::invalid, "monitor: an event of no kind"};
  }
}

}  // namespace cordon::monitor
