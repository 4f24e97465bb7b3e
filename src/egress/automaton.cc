// SPDX-License-Identifier: Apache-2.0
#include "egress/automaton.h"

#include <cassert>

namespace cordon::egress {
namespace {

constexpr Automaton::State kAbsent = 0xFFFF;

std::uint8_t folded(std::uint8_t byte, Fold fold) {
  if (fold == Fold::letters && byte >= 'A' && byte <= 'Z') return byte | 0x20;
  if (fold == Fold::base64 && byte == '+') return '-';
  if (fold == Fold::base64 && byte == '/') return '_';
  return byte;
}

}  // namespace

Automaton::Automaton(std::span<const Pattern> patterns, Fold fold) {
  classify(patterns, fold);
  plant(patterns);
  connect();
}

void Automaton::classify(std::span<const Pattern> patterns, Fold fold) {
  class_of_.assign(256, 0);
  for (const Pattern& pattern : patterns) {
    for (const std::byte raw : pattern.bytes) {
      std::uint16_t& of = class_of_[folded(std::to_integer<std::uint8_t>(raw), fold)];
      if (of == 0) of = static_cast<std::uint16_t>(classes_++);
    }
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto as_byte = static_cast<std::uint8_t>(byte);
    class_of_[byte] = class_of_[folded(as_byte, fold)];
  }
}

// The tree of all patterns.
void Automaton::plant(std::span<const Pattern> patterns) {
  next_.assign(classes_, kAbsent);
  match_.assign(1, kNone);
  for (const Pattern& pattern : patterns) {
    State at = kStart;
    for (const std::byte raw : pattern.bytes) {
      const std::size_t edge =
          static_cast<std::size_t>(at) * classes_ + class_of_[std::to_integer<std::uint8_t>(raw)];
      if (next_[edge] == kAbsent) {
        assert(match_.size() < kAbsent);
        next_[edge] = static_cast<State>(match_.size());
        match_.push_back(kNone);
        next_.resize(next_.size() + classes_, kAbsent);
      }
      at = next_[edge];
    }
    if (match_[at] == kNone) match_[at] = pattern.id;
  }
}

// Fills in where a state goes on when its own branch ends: where its longest suffix would.
void Automaton::connect() {
  WipedVector<State> suffix(match_.size(), kStart);
  WipedVector<State> queue;
  queue.reserve(match_.size());
  for (std::size_t c = 0; c < classes_; ++c) {
    State& child = next_[c];
    if (child == kAbsent) {
      child = kStart;
    } else {
      queue.push_back(child);
    }
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const State at = queue[head];
    const State back = suffix[at];
    if (match_[at] == kNone) match_[at] = match_[back];
    for (std::size_t c = 0; c < classes_; ++c) {
      State& child = next_[static_cast<std::size_t>(at) * classes_ + c];
      const State fallback = next_[static_cast<std::size_t>(back) * classes_ + c];
      if (child == kAbsent) {
        child = fallback;
      } else {
        suffix[child] = fallback;
        queue.push_back(child);
      }
    }
  }
}

void Automaton::add_beginnings(BytePairs& pairs, std::string_view between) const {
  for (unsigned first = 0; first < 256; ++first) {
    const auto one = static_cast<std::uint8_t>(first);
    const State begun = step(kStart, one);
    if (begun == kStart) continue;
    for (const char c : between) pairs.add(one, static_cast<std::uint8_t>(c));
    for (unsigned second = 0; second < 256; ++second) {
      const auto two = static_cast<std::uint8_t>(second);
      // Where the second only begins anew it will be seen as a first.
      if (step(begun, two) != step(kStart, two)) pairs.add(one, two);
    }
  }
}

std::size_t Automaton::memory() const noexcept {
  return class_of_.capacity() * sizeof(std::uint16_t) + next_.capacity() * sizeof(State) +
         match_.capacity();
}

}  // namespace cordon::egress
