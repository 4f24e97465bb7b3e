// SPDX-License-Identifier: Apache-2.0
#include "terminal/escape_filter.h"

#include <algorithm>

#include "terminal/relay_rules.h"

namespace cordon::terminal {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_plain(char c) noexcept { return c >= 0x20 && c < 0x7F; }

void append_csi(const Sequence& sequence, std::string& out) {
  const bool switches_modes = sequence.prefix == '?' && sequence.intermediates.empty() &&
                              (sequence.final == 'h' || sequence.final == 'l');
  out += "\x1b[";
  if (sequence.prefix != 0) out += sequence.prefix;
  out += switches_modes ? only_known_modes(sequence.parameters) : sequence.parameters;
  out += sequence.intermediates;
  out += sequence.final;
}

void append(const Sequence& sequence, std::string& out) {
  switch (sequence.kind) {
    case Sequence::Kind::character:
      out += sequence.bytes;
      return;
    case Sequence::Kind::control:
      out += sequence.final;
      return;
    case Sequence::Kind::escape:
      out += '\x1b' + sequence.intermediates + sequence.final;
      return;
    case Sequence::Kind::csi:
      append_csi(sequence, out);
      return;
    case Sequence::Kind::osc:
      out += "\x1b]" + sequence.parameters + (sequence.bell ? "\a" : "\x1b\\");
      return;
    case Sequence::Kind::stray:
    case Sequence::Kind::string:
      return;
  }
}

// A lone C1 control vanishes; text in another encoding shows that something was there.
bool shows_replacement(const Sequence& sequence) noexcept {
  if (sequence.kind != Sequence::Kind::stray) return false;
  const auto first = static_cast<unsigned char>(sequence.bytes[0]);
  return first >= 0xA0;
}

}  // namespace

void EscapeFilter::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (parser_.is_idle()) {
      const auto* const end = std::ranges::find_if_not(bytes, is_plain);
      out.append(bytes.begin(), end);
      bytes.remove_prefix(static_cast<std::size_t>(end - bytes.begin()));
      if (bytes.empty()) return;
    }
    SequenceParser::Step step;
    do {
      step = parser_.push(static_cast<unsigned char>(bytes.front()));
      if (step.sequence != nullptr) tell(*step.sequence, out);
    } while (step.again);
    bytes.remove_prefix(1);
  }
}

void EscapeFilter::tell(const Sequence& sequence, std::string& out) {
  const Ruling ruling = judge(sequence);
  if (!ruling.passes) {
    ++refused_;
    if (shows_replacement(sequence)) out += kReplacement;
    return;
  }
  append(sequence, out);
  modes_.see(sequence);
  asked_ = asked_ || ruling.query != Query::none;
  asked_status_ = asked_status_ || ruling.query == Query::status;
}

}  // namespace cordon::terminal
