// SPDX-License-Identifier: Apache-2.0
// Looks for secrets in what leaves a sandbox and in what comes back, however it is cut into pieces:
// as they are, in base64 (any of three offsets, both alphabets, over line ends), in hex, and with
// URL or JSON escapes for any of their characters. What is compressed, encrypted, hashed or turned
// round is not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "egress/automaton.h"
#include "egress/key_shapes.h"
#include "egress/unescape.h"

namespace cordon::egress {

// A text that must not go by, and what it is called in reports.
struct Sentinel {
  std::string name;
  std::span<const std::byte> value;  // not needed after the set is made
};

// Wiped when it goes: one of secrets is made for one request. Neither copied nor changed.
class SentinelSet {
 public:
  // Shorter ones would be found everywhere: they are left out.
  static constexpr std::size_t kShortest = 8;
  // Of longer ones the end is looked for: whoever lacks that much of a key has no key.
  static constexpr std::size_t kLongest = 64;
  static constexpr std::size_t kMost = 64;

  // Those behind the first kMost are left out.
  explicit SentinelSet(std::span<const Sentinel> sentinels);
  SentinelSet(const SentinelSet&) = delete;
  SentinelSet& operator=(const SentinelSet&) = delete;

  std::size_t size() const noexcept { return names_.size(); }
  const std::string& name(std::size_t index) const { return names_.at(index); }
  std::size_t memory() const noexcept;

 private:
  friend class SecretScan;
  std::vector<std::string> names_;
  Automaton plain_, base64_, hex_;
  BytePairs beginnings_;
};

// Every placeholder of every sandbox, by what they all begin with. Made once for the process.
const SentinelSet& any_placeholder();

struct Finding {
  enum class Form : std::uint8_t { plain, base64, hex, shape } form = Form::plain;
  std::string name;  // of the sentinel, or of the kind of key

  friend bool operator==(const Finding&, const Finding&) = default;
};
std::string_view to_string(Finding::Form form) noexcept;

// One message, from its first byte to its last. At most two sets, which outlive it.
class SecretScan {
 public:
  enum class Keys : std::uint8_t { ignore, find };
  static constexpr std::size_t kMostSets = 2;
  // No more is ever kept back: as long as the longest sentinel with escapes in escapes.
  static constexpr std::size_t kMostWithheld = SentinelSet::kLongest * 18 + 64;

  SecretScan(Keys keys, std::span<const SentinelSet* const> sets);

  // The next bytes. Once something is found it stays found, and nothing more is looked at.
  const std::optional<Finding>& push(std::span<const std::byte> piece);
  const std::optional<Finding>& finding() const noexcept { return finding_; }

  // How many of the last bytes may be the beginning of something: whoever passes the stream on
  // keeps these until more have come, or the message has ended.
  std::size_t withheld() const noexcept;

 private:
  // Where the automata stand in one reading of the stream.
  struct Reading {
    struct Place {
      Automaton::State plain = Automaton::kStart;
      Automaton::State base64 = Automaton::kStart;
      Automaton::State hex = Automaton::kStart;
      friend bool operator==(const Place&, const Place&) = default;
    };
    std::array<Place, kMostSets> places;
    KeyWatch keys;

    bool is_idle(bool with_keys) const noexcept;
    bool is_level_with(const Reading& other) const noexcept;
  };

  bool step(Reading& reading, std::uint8_t byte);
  bool step_all(std::uint8_t byte);
  std::size_t skip(std::span<const std::byte> piece, std::size_t from);
  bool passes_escape(std::span<const std::byte> rest);
  bool are_level() const noexcept;
  void found(Finding::Form form, std::string_view name) { finding_ = {form, std::string{name}}; }

  bool with_keys_;
  std::array<const SentinelSet*, kMostSets> sets_{};
  std::size_t set_count_ = 0;
  // As it is; without URL escapes; without JSON escapes; without either. While they are level only
  // the first is kept up.
  std::array<Reading, 4> readings_;
  bool level_ = true;
  Unescape percent_{Escapes::percent};
  Unescape json_{Escapes::json};
  Unescape json_of_percent_{Escapes::json};
  BytePairs beginnings_;  // with which something may begin
  std::uint64_t read_ = 0;
  std::uint64_t clean_ = 0;  // before this nothing can belong to what is still to be found
  std::optional<Finding> finding_;
};

}  // namespace cordon::egress
