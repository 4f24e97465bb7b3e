// SPDX-License-Identifier: Apache-2.0
#include "egress/secret_scan.h"

#include <algorithm>

#include "base/bytes.h"
#include "frame/placeholder.h"

namespace cordon::egress {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHex = "0123456789abcdef";

WipedBytes hex_of(std::span<const std::byte> value) {
  WipedBytes text;
  text.reserve(value.size() * 2);
  for (const std::byte b : value) {
    const auto byte = std::to_integer<unsigned>(b);
    text.push_back(static_cast<std::byte>(kHex[byte >> 4U]));
    text.push_back(static_cast<std::byte>(kHex[byte & 0xFU]));
  }
  return text;
}

// Those characters that `value` alone decides when `before` bytes precede it in the same group of
// three.
WipedBytes base64_of(std::span<const std::byte> value, std::size_t before) {
  const auto bit = [&](std::size_t at) {
    return (std::to_integer<unsigned>(value[at / 8]) >> (7 - at % 8)) & 1U;
  };
  WipedBytes text;
  const std::size_t skipped = (6 - before * 8 % 6) % 6;  // bits of a character that others share
  for (std::size_t at = skipped; at + 6 <= value.size() * 8; at += 6) {
    unsigned index = 0;
    for (std::size_t i = 0; i < 6; ++i) index = index * 2 + bit(at + i);
    text.push_back(static_cast<std::byte>(kBase64[index]));
  }
  return text;
}

// A form's blank may be a plus.
WipedBytes with_pluses(std::span<const std::byte> value) {
  WipedBytes text{value.begin(), value.end()};
  std::ranges::replace(text, std::byte{' '}, std::byte{'+'});
  return text;
}

// A first text is followed by itself or by an escape.
const BytePairs& key_beginnings() {
  static const BytePairs pairs = [] {
    BytePairs made;
    KeyWatch::add_beginnings(made);
    return made;
  }();
  return pairs;
}

constexpr bool begins_escape(std::uint8_t byte) {
  return Unescape::begins(Escapes::percent, byte) || Unescape::begins(Escapes::json, byte);
}

}  // namespace

SentinelSet::SentinelSet(std::span<const Sentinel> sentinels) {
  std::vector<Pattern> plain;
  std::vector<Pattern> base64;
  std::vector<Pattern> hex;
  for (const Sentinel& sentinel : sentinels) {
    auto value = sentinel.value;
    if (value.size() < kShortest || names_.size() == kMost) continue;
    value = value.last(std::min(value.size(), kLongest));
    const auto id = static_cast<std::uint8_t>(names_.size());
    names_.push_back(sentinel.name);
    plain.push_back({WipedBytes{value.begin(), value.end()}, id});
    if (std::ranges::find(value, std::byte{' '}) != value.end()) {
      plain.push_back({with_pluses(value), id});
    }
    for (const std::size_t before : {0U, 1U, 2U}) base64.push_back({base64_of(value, before), id});
    hex.push_back({hex_of(value), id});
  }
  plain_ = Automaton{plain, Fold::none};
  base64_ = Automaton{base64, Fold::base64};
  hex_ = Automaton{hex, Fold::letters};
  // What follows a first byte may be an escape for the second, or a line end before it.
  plain_.add_beginnings(beginnings_, "%\\");
  base64_.add_beginnings(beginnings_, "%\\\r\n");
  hex_.add_beginnings(beginnings_, "%\\\r\n");
}

std::size_t SentinelSet::memory() const noexcept {
  return plain_.memory() + base64_.memory() + hex_.memory() + BytePairs::kMemory;
}

const SentinelSet& any_placeholder() {
  static const Sentinel kSentinel{"a placeholder", as_bytes(frame::kPlaceholderPrefix)};
  static const SentinelSet set{std::span{&kSentinel, 1}};
  return set;
}

std::string_view to_string(Finding::Form form) noexcept {
  switch (form) {
    case Finding::Form::plain:
      return "plain";
    case Finding::Form::base64:
      return "base64";
    case Finding::Form::hex:
      return "hex";
    case Finding::Form::shape:
      return "shape";
  }
  return {};
}

SecretScan::SecretScan(Keys keys, std::span<const SentinelSet* const> sets)
    : with_keys_{keys == Keys::find} {
  for (const SentinelSet* set : sets) {
    if (set_count_ < kMostSets) sets_[set_count_++] = set;
  }
  for (std::size_t i = 0; i < set_count_; ++i) beginnings_.add_all(sets_[i]->beginnings_);
  if (with_keys_) beginnings_.add_all(key_beginnings());
}

bool SecretScan::Reading::is_idle(bool with_keys) const noexcept {
  return places == decltype(places){} && (!with_keys || keys.is_idle());
}

bool SecretScan::Reading::is_level_with(const Reading& other) const noexcept {
  return places == other.places && keys.is_level_with(other.keys);
}

// True: something is found.
bool SecretScan::step(Reading& reading, std::uint8_t byte) {
  const bool line_end = byte == '\r' || byte == '\n';
  for (std::size_t i = 0; i < set_count_; ++i) {
    const SentinelSet& set = *sets_[i];
    Reading::Place& at = reading.places[i];
    at.plain = set.plain_.step(at.plain, byte);
    if (const auto id = set.plain_.match(at.plain); id != Automaton::kNone) {
      found(Finding::Form::plain, set.names_[id]);
    }
    if (line_end) continue;  // encoders break lines where they like
    at.base64 = set.base64_.step(at.base64, byte);
    if (const auto id = set.base64_.match(at.base64); id != Automaton::kNone) {
      found(Finding::Form::base64, set.names_[id]);
    }
    at.hex = set.hex_.step(at.hex, byte);
    if (const auto id = set.hex_.match(at.hex); id != Automaton::kNone) {
      found(Finding::Form::hex, set.names_[id]);
    }
  }
  if (with_keys_) {
    const std::uint8_t shape = reading.keys.step(byte);
    if (shape != KeyWatch::kNone) found(Finding::Form::shape, key_shapes()[shape].name);
  }
  return finding_.has_value();
}

bool SecretScan::step_all(std::uint8_t byte) {
  auto& [as_it_is, no_percent, no_json, neither] = readings_;
  if (step(as_it_is, byte)) return true;
  for (const std::uint8_t plain : percent_.push(byte)) {
    if (step(no_percent, plain)) return true;
    for (const std::uint8_t plainer : json_of_percent_.push(plain)) {
      if (step(neither, plainer)) return true;
    }
  }
  for (const std::uint8_t plain : json_.push(byte)) {
    if (step(no_json, plain)) return true;
  }
  return false;
}

bool SecretScan::are_level() const noexcept {
  return percent_.is_idle() && json_.is_idle() && json_of_percent_.is_idle() &&
         std::ranges::all_of(std::span{readings_}.subspan(1), [&](const Reading& reading) {
           return reading.is_level_with(readings_[0]);
         });
}

// True for a short escape of JSON, at the front of `rest`, that begins nothing in any reading.
bool SecretScan::passes_escape(std::span<const std::byte> rest) {
  if (rest.size() < 3) return false;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(rest[i]); };
  const auto meaning = Unescape::short_meaning(at(1));
  if (at(0) != '\\' || !meaning) return false;
  if (begins_escape(at(1)) || beginnings_.has(at(0), at(1)) || beginnings_.has(at(1), at(2)) ||
      beginnings_.has(*meaning, at(2))) {
    return false;
  }
  // What follows it may begin a word where its letter, as it is, would not let it.
  readings_[0].keys.passed(*meaning);
  return true;
}

// Over bytes that can begin nothing, while nothing has begun. Gives where it stopped.
std::size_t SecretScan::skip(std::span<const std::byte> piece, std::size_t from) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint8_t>(piece[i]); };
  std::size_t at = from;
  for (;;) {
    const std::size_t before = at;
    while (at + 1 < piece.size() && !begins_escape(byte(at)) &&
           !beginnings_.has(byte(at), byte(at + 1))) {
      ++at;
    }
    if (at > before) readings_[0].keys.passed(byte(at - 1));
    if (!passes_escape(piece.subspan(at))) return at;
    at += 2;
  }
}

const std::optional<Finding>& SecretScan::push(std::span<const std::byte> piece) {
  const std::uint64_t before = read_;
  bool idle = level_ && readings_[0].is_idle(with_keys_);
  for (std::size_t at = 0; at < piece.size() && !finding_;) {
    if (idle) {
      at = skip(piece, at);
      clean_ = before + at;
    }
    const auto byte = std::to_integer<std::uint8_t>(piece[at++]);
    if (level_ && begins_escape(byte)) {
      level_ = false;
      std::ranges::fill(std::span{readings_}.subspan(1), readings_[0]);
    }
    if (level_) {
      if (step(readings_[0], byte)) break;
    } else {
      if (step_all(byte)) break;
      level_ = are_level();
    }
    idle = level_ && readings_[0].is_idle(with_keys_);
    if (idle) clean_ = before + at;
  }
  read_ += piece.size();
  return finding_;
}

std::size_t SecretScan::withheld() const noexcept {
  return static_cast<std::size_t>(std::min<std::uint64_t>(read_ - clean_, kMostWithheld));
}

}  // namespace cordon::egress
