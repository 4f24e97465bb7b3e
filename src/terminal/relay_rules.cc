// SPDX-License-Identifier: Apache-2.0
// The rules, as tables with their reasons.
#include "terminal/relay_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "terminal/modes.h"
#include "terminal/parameters.h"

namespace cordon::terminal {
namespace {

constexpr std::string_view kUnknown = "no rule knows it, so we could not put back what it changes";
constexpr std::string_view kMalformed = "too long, or with bytes that terminals read differently";

// `only`, when given, lists the first parameters that pass: " 5 6 ".
struct CsiRule {
  std::string_view head;  // prefix and intermediates
  std::string_view finals;
  std::string_view only;
  std::string_view otherwise;  // the reason for the rest
  Query query = Query::none;
};

constexpr auto kCsi = std::to_array<CsiRule>({
    // Text, cursor, erasing, margins, tabs, colours.
    {"", "@ABCDEFGHIJKLMPSXZ`abdefgmrsu", "", ""},
    {" ", "@Aq", "", ""},
    {"'", "}~", "", ""},
    {"$", "rvxz{t", "", ""},
    {"!", "p", "", ""},
    {"?", "JK", "", ""},
    {"?", "W", " 5 ", kUnknown},
    // Modes: each is judged by its number.
    {"?", "hl", "", ""},
    {"", "hl", " 4 ", "locks the keyboard, or echoes or changes what is typed"},
    // Keyboards, for programs that tell Ctrl-I from Tab.
    {">", "u", "", ""},
    {"<", "u", "", ""},
    {"=", "u", "", ""},
    {">", "m", " 4  ", kUnknown},
    {">", "n", " 4 ", kUnknown},
    // Questions whose answers have a fixed form; full-screen programs wait for them.
    {"", "c", " 0  ", kUnknown, Query::other},
    {">", "c", " 0  ", kUnknown, Query::other},
    {"", "n", " 6 ", "asks for nothing a program needs", Query::other},
    {"?", "n", " 6 996 ", "asks about printers, keys or macros", Query::other},
    {">", "q", " 0  ", kUnknown, Query::other},
    {"?", "u", "", "", Query::other},
    {"?", "m", " 4 ", kUnknown, Query::other},
    {"$", "p", "", "", Query::other},
    {"?$", "p", "", "", Query::other},
    {"", "t", " 14 16 18 19 ", "reports or stacks the title, or moves the window", Query::other},
    // Named to give their reason.
    {"*", "y", " - ", "the checksum of an area tells what the screen shows"},
    {"", "i", " - ", "prints, or sends output to a printer"},
    {"?", "i", " - ", "prints, or sends output to a printer"},
    {"\"", "p", " - ", "answers with 8-bit controls from then on"},
    {"?", "sr", " - ", "brings back modes that we do not follow"},
    {"=", "c", " - ", "asks for the terminal's own identity"},
    {"", "x", " - ", "asks for the parameters of a serial line"},
    {"'", "wz{|", " - ", "reports the locator, and is not ended by mouse modes"},
});

struct OscRule {
  int number;
  bool passes;
  std::string_view reason;
};

constexpr auto kOsc = std::to_array<OscRule>({
    {4, true, ""},
    {8, true, "opens a link by another program than a browser"},
    {9, true, "speaks as the desktop"},
    {10, true, ""},
    {11, true, ""},
    {12, true, ""},
    {104, true, ""},
    {110, true, ""},
    {111, true, ""},
    {112, true, ""},
    {133, true, ""},
    {0, false, "sets the title"},
    {1, false, "sets the title"},
    {2, false, "sets the title"},
    {3, false, "sets a property of the window"},
    {7, false, "names a directory of the host"},
    {50, false, "sets the font, whose name can be asked back"},
    {52, false, "reads and writes the clipboard"},
    {633, false, "speaks as the host's shell"},
    {777, false, "speaks as the desktop"},
    {99, false, "speaks as the desktop"},
    {1337, false, "writes files and the clipboard of the host"},
    {5522, false, "reads and writes the clipboard"},
});

constexpr std::string_view kControls = "\a\b\t\n\v\f\r\x0e\x0f";
constexpr std::string_view kEscapes = "6789=>DEHMcno|}~NO\\";

bool is_listed(std::string_view list, std::string_view first) noexcept {
  return list.find(' ' + std::string{first} + ' ') != std::string_view::npos;
}

Ruling refuse(std::string_view reason) noexcept { return {false, reason}; }

Ruling judge_escape(const Sequence& sequence) {
  const std::string_view head = sequence.intermediates;
  if (head.empty()) {
    if (sequence.final == 'Z') return refuse("asks for the terminal's own identity");
    return kEscapes.find(sequence.final) != std::string_view::npos ? Ruling{true}
                                                                   : refuse(kUnknown);
  }
  if (head == "#") {
    constexpr std::string_view kLines = "34568";
    return kLines.find(sequence.final) != std::string_view::npos ? Ruling{true} : refuse(kUnknown);
  }
  if (head.size() == 1 && std::string_view{"()*+"}.find(head[0]) != std::string_view::npos) {
    constexpr std::string_view kCharsets = "AB012";
    return kCharsets.find(sequence.final) != std::string_view::npos ? Ruling{true}
                                                                    : refuse(kUnknown);
  }
  if (head == " ") return refuse("answers with 8-bit controls from then on");
  if (head == "%") return refuse("leaves UTF-8, so that text would turn into controls");
  return refuse(kUnknown);
}

Ruling judge_csi(const Sequence& sequence) {
  std::string head = sequence.intermediates;
  if (sequence.prefix != 0) head.insert(head.begin(), sequence.prefix);
  std::string_view rest = sequence.parameters;
  const std::string_view first = take_parameter(rest);
  if (head.empty() && sequence.final == 'n' && first == "5") return {true, {}, Query::status};
  // With five parameters it is another thing: mouse tracking that waits for an answer.
  if (head.empty() && sequence.final == 'T')
    return rest.empty() ? Ruling{true} : refuse("holds the terminal until the program answers");
  const auto* rule = std::ranges::find_if(kCsi, [&](const CsiRule& one) {
    return one.head == head && one.finals.find(sequence.final) != std::string_view::npos;
  });
  if (rule == kCsi.end()) return refuse(kUnknown);
  if (!rule->only.empty() && !is_listed(rule->only, first)) return refuse(rule->otherwise);
  // More parameters than the rule looked at would bring the others in with the first.
  const bool is_mode = head.empty() && (sequence.final == 'h' || sequence.final == 'l');
  if (is_mode && !rest.empty()) return refuse(rule->otherwise);
  if (head == "?" && (sequence.final == 'h' || sequence.final == 'l') &&
      only_known_modes(sequence.parameters).empty())
    return refuse(kUnknown);
  return {true, {}, rule->query};
}

bool is_web_link(std::string_view parameters) noexcept {
  take_parameter(parameters);
  take_parameter(parameters);
  return parameters.empty() || parameters.starts_with("https://") ||
         parameters.starts_with("http://") || parameters.starts_with("mailto:");
}

Ruling judge_osc(const Sequence& sequence) {
  const std::string_view text = sequence.parameters;
  if (!std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; }))
    return refuse(kMalformed);
  std::string_view rest = text;
  const std::string_view first = take_parameter(rest);
  if (first.empty() || !std::ranges::all_of(first, [](char c) { return c >= '0' && c <= '9'; }))
    return refuse(kUnknown);
  if (first.size() > 1 && first[0] == '0') return refuse(kMalformed);
  const auto* rule = std::ranges::find(kOsc, number_or(first, -1), &OscRule::number);
  if (rule == kOsc.end()) return refuse(kUnknown);
  if (!rule->passes) return refuse(rule->reason);
  if (rule->number == 8 && !is_web_link(text)) return refuse(rule->reason);
  if (rule->number == 9 && !rest.starts_with("4;")) return refuse(rule->reason);
  // A list of colours goes on to those of the mouse and of windows, which have no rule.
  if (rule->number >= 10 && rule->number <= 12 && rest.find(';') != std::string_view::npos)
    return refuse(kUnknown);
  const bool asks = rest.find('?') != std::string_view::npos && rule->number != 8;
  return {true, {}, asks ? Query::other : Query::none};
}

}  // namespace

std::string only_known_modes(std::string_view parameters) {
  std::string known;
  while (!parameters.empty()) {
    const std::string_view one = take_parameter(parameters);
    const auto* mode = std::ranges::find(kPrivateModes, number_or(one, -1), &PrivateMode::number);
    if (mode == kPrivateModes.end()) continue;
    if (!known.empty()) known += ';';
    known += std::to_string(mode->number);
  }
  return known;
}

Ruling judge(const Sequence& sequence) {
  if (sequence.malformed) return refuse(kMalformed);
  switch (sequence.kind) {
    case Sequence::Kind::character:
      if (sequence.code >= 0x80 && sequence.code < 0xA0) return refuse("an 8-bit control");
      return {true};
    case Sequence::Kind::control:
      if (sequence.final == '\x05') return refuse("makes the terminal type its answerback");
      return kControls.find(sequence.final) != std::string_view::npos
                 ? Ruling{true}
                 : refuse("does nothing on a screen");
    case Sequence::Kind::stray:
      return refuse("an 8-bit control, or no UTF-8");
    case Sequence::Kind::escape:
      return judge_escape(sequence);
    case Sequence::Kind::csi:
      return judge_csi(sequence);
    case Sequence::Kind::osc:
      return judge_osc(sequence);
    case Sequence::Kind::string:
      return refuse("programs keys, reads settings back, draws files, sets titles");
  }
  return refuse(kUnknown);
}

}  // namespace cordon::terminal
