// SPDX-License-Identifier: Apache-2.0
#include "terminal/sequence.h"

#include <string_view>

namespace cordon::terminal {
namespace {

constexpr unsigned char kEscape = 0x1B;
constexpr unsigned char kBell = 0x07;
constexpr unsigned char kCancel = 0x18;
constexpr unsigned char kSubstitute = 0x1A;

constexpr bool is_between(unsigned char byte, unsigned char first, unsigned char last) noexcept {
  return byte >= first && byte <= last;
}

}  // namespace

void SequenceParser::begin(State state, Sequence::Kind kind) noexcept {
  state_ = state;
  long_.kind = kind;
  long_.parameters.clear();
  long_.intermediates.clear();
  long_.prefix = long_.final = 0;
  long_.bell = long_.malformed = false;
}

SequenceParser::Step SequenceParser::finish(unsigned char final) noexcept {
  state_ = State::ground;
  long_.final = static_cast<char>(final);
  return {&long_};
}

SequenceParser::Step SequenceParser::control(unsigned char byte) {
  single_.kind = Sequence::Kind::control;
  single_.final = static_cast<char>(byte);
  return {&single_};
}

// ESC begins anew; CAN and SUB end what was begun.
bool SequenceParser::is_interrupted(unsigned char byte) noexcept {
  if (byte == kEscape) {
    begin(State::escape, Sequence::Kind::escape);
    return true;
  }
  if (byte != kCancel && byte != kSubstitute) return false;
  state_ = State::ground;
  return true;
}

SequenceParser::Step SequenceParser::push(unsigned char byte) {
  switch (state_) {
    case State::ground:
      return push_ground(byte);
    case State::escape:
      return push_escape(byte);
    case State::csi:
      return push_csi(byte);
    case State::string:
      return push_string(byte);
    case State::string_escape:
      if (byte == '\\') return finish(static_cast<unsigned char>(long_.final));
      begin(State::escape, Sequence::Kind::escape);
      return {nullptr, true};
  }
  return {};
}

SequenceParser::Step SequenceParser::push_ground(unsigned char byte) {
  if (byte >= 0x80 || utf8_.holds_bytes()) {
    const Utf8::Step step = utf8_.push(byte);
    if (step == Utf8::Step::more) return {};
    single_.kind =
        step == Utf8::Step::character ? Sequence::Kind::character : Sequence::Kind::stray;
    single_.code = utf8_.code();
    single_.bytes = utf8_.bytes();
    return {&single_, step == Utf8::Step::invalid_again};
  }
  if (is_interrupted(byte)) return {};
  if (byte < 0x20 || byte == 0x7F) return control(byte);
  single_.kind = Sequence::Kind::character;
  single_.code = byte;
  single_.bytes.assign(1, static_cast<char>(byte));
  return {&single_};
}

SequenceParser::Step SequenceParser::push_escape(unsigned char byte) {
  if (is_interrupted(byte)) return {};
  if (byte < 0x20) return control(byte);
  if (byte == 0x7F) return {};
  if (byte >= 0x80) {
    state_ = State::ground;
    return {nullptr, true};
  }
  if (byte < 0x30) {
    if (long_.intermediates.size() >= 2)
      long_.malformed = true;
    else
      long_.intermediates += static_cast<char>(byte);
    return {};
  }
  if (!long_.intermediates.empty()) return finish(byte);
  if (byte == '[') {
    begin(State::csi, Sequence::Kind::csi);
    return {};
  }
  // `k` is the title of screen and tmux, whose text would otherwise be taken for text.
  if (std::string_view{"]PX^_k"}.find(static_cast<char>(byte)) == std::string_view::npos)
    return finish(byte);
  begin(State::string, byte == ']' ? Sequence::Kind::osc : Sequence::Kind::string);
  long_.final = static_cast<char>(byte);
  return {};
}

SequenceParser::Step SequenceParser::push_csi(unsigned char byte) {
  if (is_interrupted(byte)) return {};
  if (byte < 0x20) return control(byte);
  if (byte == 0x7F) return {};
  if (byte >= 0x80) {
    state_ = State::ground;
    return {nullptr, true};
  }
  if (byte >= 0x40) return finish(byte);
  if (byte < 0x30) {
    if (long_.intermediates.size() >= 2)
      long_.malformed = true;
    else
      long_.intermediates += static_cast<char>(byte);
    return {};
  }
  const bool is_first =
      long_.parameters.empty() && long_.intermediates.empty() && long_.prefix == 0;
  if (is_between(byte, 0x3C, 0x3F)) {
    if (is_first)
      long_.prefix = static_cast<char>(byte);
    else
      long_.malformed = true;
    return {};
  }
  if (!long_.intermediates.empty() || long_.parameters.size() >= kMostParameters)
    long_.malformed = true;
  else
    long_.parameters += static_cast<char>(byte);
  return {};
}

SequenceParser::Step SequenceParser::push_string(unsigned char byte) {
  if (byte == kEscape) {
    state_ = State::string_escape;
    return {};
  }
  if (is_interrupted(byte)) return {};
  if (byte == kBell && long_.kind == Sequence::Kind::osc) {
    long_.bell = true;
    return finish(static_cast<unsigned char>(long_.final));
  }
  if (byte < 0x20 || long_.parameters.size() >= kMostString)
    long_.malformed = true;
  else
    long_.parameters += static_cast<char>(byte);
  return {};
}

}  // namespace cordon::terminal
