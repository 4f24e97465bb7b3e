// SPDX-License-Identifier: Apache-2.0
// Any bytes as a program's output: what is shown as text is printable, and what is relayed holds no
// sequence that we promise to refuse. The checks read the output on their own, not by our parser.
#include "terminal/escape_filter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "promise.h"
#include "terminal/text_filter.h"

namespace {

using cordon::fuzz::broken;

namespace terminal = cordon::terminal;

bool is_any_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Length of the UTF-8 character at the front that is no C1 control; 0: there is none.
std::size_t character_length(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) return 0;
  }
  return lead == 0xC2 && byte_at(text, 1) < 0xA0 ? 0 : length;
}

std::size_t sgr_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;:", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void check_text(std::string_view text, bool one_line) {
  while (!text.empty()) {
    const unsigned char byte = byte_at(text, 0);
    std::size_t length = 1;
    if (byte >= 0x80)
      length = character_length(text);
    else if (!one_line && byte == 0x1B)
      length = sgr_length(text);
    else if (!one_line && is_any_of(text[0], "\n\t"))
      length = 1;
    else if (byte < 0x20 || byte == 0x7F)
      length = 0;
    if (length == 0) broken("text is printable, newline, tab and SGR");
    text.remove_prefix(length);
  }
}

std::size_t csi_length(std::string_view text) {
  std::size_t end = 2;
  while (byte_at(text, end) >= 0x20 && byte_at(text, end) < 0x40) ++end;
  if (byte_at(text, end) < 0x40 || byte_at(text, end) > 0x7E) broken("sequences are told whole");
  const std::string_view body = text.substr(2, end - 2);
  const char final = text[end];
  if (final == 't' && !body.ends_with('$') && !body.starts_with("14") && !body.starts_with("16") &&
      !body.starts_with("18") && !body.starts_with("19"))
    broken("no title reports, no moved windows");
  if (final == 'y' || final == 'i') broken("no checksums, no printing");
  if (final == 'p' && body.ends_with('"')) broken("no 8-bit answers");
  if (body == "?2" && (final == 'l' || final == 'h')) broken("no VT52");
  return end + 1;
}

std::size_t osc_length(std::string_view text) {
  std::size_t end = 2;
  while (byte_at(text, end) >= 0x20 && byte_at(text, end) < 0x7F) ++end;
  const bool bell = byte_at(text, end) == 7;
  if (!bell && text.substr(end, 2) != "\x1b\\") broken("strings are told whole");
  const long number = std::strtol(std::string{text.substr(2, 8)}.c_str(), nullptr, 10);
  for (const long passes : {4, 8, 9, 10, 11, 12, 104, 110, 111, 112, 133}) {
    if (number == passes) return end + (bell ? 1 : 2);
  }
  broken("no titles, no clipboard");
}

void check_relayed(std::string_view text) {
  while (!text.empty()) {
    const unsigned char byte = byte_at(text, 0);
    std::size_t length = 1;
    if (byte >= 0x80) {
      length = character_length(text);
    } else if (text.starts_with("\x1b[")) {
      length = csi_length(text);
    } else if (text.starts_with("\x1b]")) {
      length = osc_length(text);
    } else if (byte == 0x1B) {
      const char next = static_cast<char>(byte_at(text, 1));
      if (next < 0x20 || is_any_of(next, "PX^_kZ% ")) broken("no device strings, no titles");
      length = next < 0x30 ? 3 : 2;
    } else if (byte < 0x20 && !is_any_of(text[0], "\a\b\t\n\v\f\r\x0e\x0f")) {
      length = 0;
    }
    if (length == 0 || length > text.size()) broken("no answerback, no 8-bit controls");
    text.remove_prefix(length);
  }
}

template <class Filter>
std::string filtered(std::string_view bytes, std::size_t cut) {
  Filter filter;
  std::string out;
  filter.feed(bytes.substr(0, cut), out);
  filter.feed(bytes.substr(cut), out);
  if constexpr (requires { filter.finish(out); }) filter.finish(out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::size_t cut = bytes.size() * data[0] / 256;

  const std::string text = filtered<terminal::TextFilter>(bytes, bytes.size());
  check_text(text, false);
  if (filtered<terminal::TextFilter>(bytes, cut) != text) broken("a cut changes no text");
  check_text(terminal::printable(bytes), true);

  const std::string relayed = filtered<terminal::EscapeFilter>(bytes, bytes.size());
  check_relayed(relayed);
  if (filtered<terminal::EscapeFilter>(bytes, cut) != relayed) broken("a cut changes no relay");
  if (filtered<terminal::EscapeFilter>(relayed, relayed.size() / 2) != relayed)
    broken("what passed, passes");

  terminal::EscapeFilter filter;
  std::string out;
  filter.feed(bytes, out);
  const std::string restore = filter.restore_sequence();
  check_relayed(restore);
  filter.feed("\x18" + restore, out);
  if (restore.size() > 512) broken("restoring is short");
  return 0;
}
