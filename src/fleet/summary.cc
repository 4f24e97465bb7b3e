// SPDX-License-Identifier: Apache-2.0
#include "fleet/summary.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "fleet/value_fields.h"
#include "policy/problem.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

namespace ip = boost::asio::ip;

constexpr std::int64_t kSummaryFormat = 1;
constexpr std::size_t kLongestSummary = 4096;
constexpr std::int64_t kMostSlots = 1'000'000;
constexpr std::int64_t kMostEpochs = std::numeric_limits<std::uint32_t>::max();

Result<WarmSet> warm_at(const ValueFields& of) {
  TRY(const std::string hex, of.text("warm", kLongestSummary));
  std::uint64_t bits = 0;
  const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  if (failure != std::errc{} || end != hex.data() + hex.size()) return of.wrong("warm");
  return WarmSet{bits};
}

// Where it is absent, nothing was said.
Result<std::uint64_t> some_number(const ValueFields& of, std::string_view key) {
  if (of.find(key) == nullptr) return 0;
  TRY(const std::int64_t value, of.number(key, 1, std::numeric_limits<std::int64_t>::max()));
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::string encode(const Summary& summary) {
  wire::JsonWriter out;
  out.begin_object();
  out.number("format", kSummaryFormat);
  if (summary.is_expelled) {
    out.boolean("expelled", true);
    out.end_object();
    return out.take();
  }
  out.text("address", summary.address);
  out.number("epoch", std::uint64_t{summary.gauge.at.epoch});
  out.number("seq", summary.gauge.at.seq);
  out.number("slots", std::uint64_t{summary.gauge.slots});
  out.number("free", std::uint64_t{summary.gauge.free});
  out.text("warm", fmt::format("{:x}", summary.gauge.warm.bits()));
  out.boolean("draining", summary.is_draining);
  if (summary.release != 0) out.number("release", summary.release);
  if (summary.refused != 0) {
    out.number("refused", summary.refused);
    out.text("why", summary.why);
  }
  if (summary.turned_away != 0) out.number("turned_away", summary.turned_away);
  out.number("saying", summary.saying);
  out.end_object();
  return out.take();
}

Result<Summary> decode_summary(std::string_view text) {
  if (text.size() > kLongestSummary) return Error{Errc::invalid, "a node's summary: too long"};
  policy::Problems problems{"summary"};
  auto read = policy::read_json(text, problems);
  if (!read) return Error{Errc::invalid, read.error().text()};
  if (read->table() == nullptr) return Error{Errc::invalid, "a node's summary: no object"};
  const ValueFields all{*read, "a node's summary"};
  TRY_DO(all.number("format", kSummaryFormat, kSummaryFormat));
  if (all.find("expelled") != nullptr) {
    TRY(const bool is_expelled, all.truth("expelled"));
    if (is_expelled) return Summary{.address = {}, .is_expelled = true};
  }
  Summary summary;
  TRY(summary.address, all.text("address", kLongestSummary));
  TRY_DO(check_address(summary.address));
  TRY(const std::int64_t epoch, all.number("epoch", 0, kMostEpochs));
  TRY(const std::int64_t seq, all.number("seq", 0, std::numeric_limits<std::int64_t>::max()));
  TRY(const std::int64_t slots, all.number("slots", 0, kMostSlots));
  TRY(const std::int64_t free, all.number("free", 0, slots));
  TRY(const WarmSet warm, warm_at(all));
  TRY(summary.is_draining, all.truth("draining"));
  summary.gauge = {
      .at = {.epoch = static_cast<std::uint32_t>(epoch), .seq = static_cast<std::uint64_t>(seq)},
      .slots = static_cast<std::uint32_t>(slots),
      .free = static_cast<std::uint32_t>(free),
      .warm = warm};
  TRY(summary.release, some_number(all, "release"));
  TRY(summary.refused, some_number(all, "refused"));
  TRY(summary.turned_away, some_number(all, "turned_away"));
  if (summary.refused == 0) return summary;
  TRY(summary.why, all.text("why", kLongestSummary));
  if (summary.why != plain_words(summary.why)) return all.wrong("why");
  return summary;
}

Status check_address(std::string_view text) {
  const Error refusal{Errc::invalid,
                      "a node's address: expected a literal address of one machine and a port"};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refusal;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, failure] = std::from_chars(port.begin(), port.end(), number);
  const bool is_port = failure == std::errc{} && end == port.end() && number != 0 && port[0] != '0';
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string{host}, error);
  if (error || !is_port || address.is_v6() != is_bracketed) return refusal;
  const bool is_broadcast = address.is_v4() && address.to_v4() == ip::address_v4::broadcast();
  // A v4 address in the clothes of v6 would slip past whoever filters v4 addresses; a scope is a
  // name of this machine's own.
  const bool is_dressed =
      address.is_v6() && (address.to_v6().is_v4_mapped() || address.to_v6().scope_id() != 0);
  if (address.is_unspecified() || address.is_multicast() || is_broadcast || is_dressed) {
    return refusal;
  }
  return {};
}

std::string plain_words(std::string_view text) {
  constexpr std::size_t kMost = 400;
  std::string plain{text.substr(0, kMost)};
  std::ranges::replace_if(plain, [](char c) { return c < ' ' || c > '~'; }, '?');
  return plain;
}

bool differs(const Summary& last, const Summary& now) {
  if (last.address != now.address || last.is_draining != now.is_draining ||
      last.gauge.at.epoch != now.gauge.at.epoch || last.gauge.slots != now.gauge.slots ||
      last.gauge.warm != now.gauge.warm || last.release != now.release ||
      last.refused != now.refused || last.why != now.why ||
      (last.turned_away == 0) != (now.turned_away == 0)) {
    return true;
  }
  const std::int64_t change = std::int64_t{now.gauge.free} - std::int64_t{last.gauge.free};
  // The last slot is news in itself.
  if ((last.gauge.free == 0) != (now.gauge.free == 0)) return true;
  return (change < 0 ? -change : change) * 50 > std::int64_t{now.gauge.slots};
}

}  // namespace cordon::fleet
