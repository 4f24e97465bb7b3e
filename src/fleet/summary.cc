// SPDX-License-Identifier: Apache-2.0
#include "fleet/summary.h"

#include <charconv>
#include <limits>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "policy/problem.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

namespace ip = boost::asio::ip;
using policy::Value;

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kLongestSummary = 4096;
constexpr std::int64_t kMostSlots = 1'000'000;
constexpr std::int64_t kMostEpochs = std::numeric_limits<std::uint32_t>::max();

Error wrong(std::string_view key) {
  return Error{Errc::invalid, fmt::format("a node's summary: `{}` is missing or wrong", key)};
}

Result<std::int64_t> number(const Value& of, std::string_view key, std::int64_t least,
                            std::int64_t most) {
  const Value* const found = of.find(key);
  const std::int64_t* const value = found != nullptr ? found->integer() : nullptr;
  if (value == nullptr || *value < least || *value > most) return wrong(key);
  return *value;
}

Result<std::string> text_at(const Value& of, std::string_view key) {
  const Value* const found = of.find(key);
  if (found == nullptr || found->text() == nullptr) return wrong(key);
  return *found->text();
}

Result<WarmSet> warm_at(const Value& of) {
  TRY(const std::string hex, text_at(of, "warm"));
  std::uint64_t bits = 0;
  const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  if (failure != std::errc{} || end != hex.data() + hex.size()) return wrong("warm");
  return WarmSet{bits};
}

}  // namespace

std::string encode(const Summary& summary) {
  wire::JsonWriter out;
  out.begin_object();
  out.number("format", kFormat);
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
  const Value& all = *read;
  TRY_DO(number(all, "format", kFormat, kFormat));
  const Value* const expelled = all.find("expelled");
  if (expelled != nullptr && expelled->boolean() == nullptr) return wrong("expelled");
  if (expelled != nullptr && *expelled->boolean())
    return Summary{.address = {}, .is_expelled = true};
  Summary summary;
  TRY(summary.address, text_at(all, "address"));
  TRY_DO(check_address(summary.address));
  TRY(const std::int64_t epoch, number(all, "epoch", 0, kMostEpochs));
  TRY(const std::int64_t seq, number(all, "seq", 0, std::numeric_limits<std::int64_t>::max()));
  TRY(const std::int64_t slots, number(all, "slots", 0, kMostSlots));
  TRY(const std::int64_t free, number(all, "free", 0, slots));
  TRY(const WarmSet warm, warm_at(all));
  const Value* const draining = all.find("draining");
  if (draining == nullptr || draining->boolean() == nullptr) return wrong("draining");
  summary.gauge = {
      .at = {.epoch = static_cast<std::uint32_t>(epoch), .seq = static_cast<std::uint64_t>(seq)},
      .slots = static_cast<std::uint32_t>(slots),
      .free = static_cast<std::uint32_t>(free),
      .warm = warm};
  summary.is_draining = *draining->boolean();
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

bool differs(const Summary& last, const Summary& now) {
  if (last.address != now.address || last.is_draining != now.is_draining ||
      last.gauge.at.epoch != now.gauge.at.epoch || last.gauge.slots != now.gauge.slots ||
      last.gauge.warm != now.gauge.warm) {
    return true;
  }
  const std::int64_t change = std::int64_t{now.gauge.free} - std::int64_t{last.gauge.free};
  // The last slot is news in itself.
  if ((last.gauge.free == 0) != (now.gauge.free == 0)) return true;
  return (change < 0 ? -change : change) * 50 > std::int64_t{now.gauge.slots};
}

}  // namespace cordon::fleet
