// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) to a tree that knows where each value stands and refuses a duplicate key.
//
// Own, because the libraries at hand either keep the last of two keys and no places (Boost.JSON) or
// can only be linked shared, which costs every start of `cordon` more than all it reads. A test
// holds it against simdjson.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "policy/text.h"
#include "policy/value.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kDigits = "0123456789";

void add_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12U);
    } else {
      put(0xF0 | code >> 18U);
      put(0x80 | (code >> 12U & 0x3FU));
    }
    put(0x80 | (code >> 6U & 0x3FU));
  }
  put(0x80 | (code & 0x3FU));
}

// Leaves by the first error.
class TextReader {
 public:
  TextReader(std::string_view text, Problems& problems, Controls controls)
      : text_{text}, problems_{problems}, controls_{controls} {}

  // False: a problem was added and reading must end.
  bool document(Value& to) {
    if (!is_utf8(text_)) return fail({1, 1}, "not valid UTF-8");
    skip_blank();
    if (at_ == text_.size()) return fail({1, 1}, "empty");
    if (next() != '{' && next() != '[') {
      problems_.add({1, 1}, "expected an object: { … }");
      return false;
    }
    if (!value(to, 0)) return false;
    skip_blank();
    return at_ == text_.size() || fail(mark(), "something follows the end of the document");
  }

 private:
  bool value(Value& to, int depth) {
    skip_blank();
    to.mark = mark();
    if (depth > kDeepestValue)
      return fail(to.mark, fmt::format("nested deeper than {} levels", kDeepestValue));
    switch (next()) {
      case '{':
        return object(to, depth);
      case '[':
        return array(to, depth);
      case '"':
        return text(to);
      default:
        return word(to, "true", true) || word(to, "false", false) ||
               word(to, "null", std::monostate{}) || (is_number() ? number(to) : no_value(to));
    }
  }

  bool object(Value& to, int depth) {
    ++at_;
    Value::Table entries;
    std::unordered_set<std::string> keys;  // a hostile object has thousands: no scan for each
    for (bool first = true; !takes('}'); first = false) {
      const auto malformed = [&] {
        return fail(entries.empty() ? to.mark : entries.back().value.mark,
                    "malformed object: expected `,` or `}` and then a key in quotes");
      };
      if (!first && !takes(',')) return malformed();
      skip_blank();
      const Mark mark = this->mark();
      std::string key;
      if (next() != '"') return malformed();
      if (!string(key)) return fail(mark, "malformed key");
      if (controls_ == Controls::refused && has_control_character(key))
        return fail(mark, "control characters are not allowed in a key");
      if (!keys.emplace(key).second) {
        return fail(mark, fmt::format("duplicate key {}", in_quotes(key)));
      }
      if (entries.size() == kMostItems) return fail(mark, too_many());
      if (!takes(':')) return malformed();
      entries.push_back({std::move(key), mark, {}});
      if (!value(entries.back().value, depth + 1)) return false;
    }
    to.data = std::move(entries);
    return true;
  }

  bool array(Value& to, int depth) {
    ++at_;
    Value::List list;
    for (bool first = true; !takes(']'); first = false) {
      if (!first && !takes(',')) {
        return fail(list.back().mark, "malformed list: expected `,` or `]`");
      }
      if (list.size() == kMostItems) return fail(list.back().mark, too_many());
      list.emplace_back();
      if (!value(list.back(), depth + 1)) return false;
    }
    to.data = std::move(list);
    return true;
  }

  bool text(Value& to) {
    std::string content;
    if (!string(content)) return fail(to.mark, "malformed text");
    if (controls_ == Controls::refused && has_control_character(content))
      return fail(to.mark, "control characters are not allowed in a text");
    to.data = std::move(content);
    return true;
  }

  // Before: at a quote. False: it does not end, or holds what must be escaped or cannot be.
  bool string(std::string& to) {
    for (++at_; at_ < text_.size();) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        to += c;
      } else if (!escape(to)) {
        return false;
      }
    }
    return false;
  }

  bool escape(std::string& to) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = next();
    ++at_;
    if (const std::size_t known = kLetters.find(letter);
        letter != '\0' && known != std::string_view::npos) {
      to += kMeanings[known];
      return true;
    }
    std::uint32_t code = 0;
    if (letter != 'u' || !hex(code)) return false;
    // Above U+FFFF a character is a pair; a half alone is none.
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (!text_.substr(std::min(at_, text_.size())).starts_with("\\u")) return false;
      at_ += 2;
      if (!hex(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return false;
    }
    add_utf8(to, code);
    return true;
  }

  bool hex(std::uint32_t& code) {
    constexpr std::size_t kLength = 4;
    if (text_.size() - std::min(at_, text_.size()) < kLength) return false;
    const char* const begin = text_.data() + at_;
    at_ += kLength;
    return std::from_chars(begin, begin + kLength, code, 16).ptr == begin + kLength;
  }

  template <class Meaning>
  bool word(Value& to, std::string_view spelling, Meaning meaning) {
    if (!text_.substr(at_).starts_with(spelling) || !ends_at(at_ + spelling.size())) return false;
    at_ += spelling.size();
    to.data = meaning;
    return true;
  }

  // What follows a word or a number is blank, or closes it.
  bool ends_at(std::size_t at) const {
    return at >= text_.size() || (std::string_view{",]}:"}.find(text_[at]) != text_.npos) ||
           kBlank.find(text_[at]) != text_.npos;
  }

  bool is_number() const { return next() == '-' || (next() >= '0' && next() <= '9'); }

  bool no_value(const Value& to) {
    const bool boolean = next() == 't' || next() == 'f';
    return fail(to.mark, boolean ? "expected true or false" : "expected a value");
  }

  // Digits from here on; how many.
  std::size_t digits() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(kDigits, at_), text_.size());
    return at_ - begin;
  }

  bool number(Value& to) {
    constexpr const char* kMalformed = "malformed number, or one that does not fit into 64 bits";
    const std::size_t begin = at_;
    if (next() == '-') ++at_;
    const bool zero = next() == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return fail(to.mark, kMalformed);
    bool integer = true;
    if (next() == '.') {
      ++at_;
      integer = false;
      if (digits() == 0) return fail(to.mark, kMalformed);
    }
    if (next() == 'e' || next() == 'E') {
      ++at_;
      integer = false;
      if (next() == '+' || next() == '-') ++at_;
      if (digits() == 0) return fail(to.mark, kMalformed);
    }
    if (!ends_at(at_)) return fail(to.mark, kMalformed);
    const std::string spelled{text_.substr(begin, at_ - begin)};
    return integer ? whole_number(to, spelled) : fraction(to, spelled, kMalformed);
  }

  bool whole_number(Value& to, const std::string& spelled) {
    std::int64_t content = 0;
    const char* const end = spelled.data() + spelled.size();
    if (std::from_chars(spelled.data(), end, content).ec != std::errc{})
      return fail(to.mark, "number does not fit into 64 bits");
    to.data = content;
    return true;
  }

  bool fraction(Value& to, const std::string& spelled, const char* malformed) {
    const double content = std::strtod(spelled.c_str(), nullptr);  // no locale is ever set
    if (!std::isfinite(content)) return fail(to.mark, malformed);
    to.data = content;
    return true;
  }

  bool fail(Mark mark, std::string message) {
    problems_.add(mark, fmt::format("JSON: {}", message));
    return false;
  }

  static std::string too_many() {
    return fmt::format("more than {} items in one list or table", kMostItems);
  }

  // NUL at the end: no token begins with it.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blank() { at_ = std::min(text_.find_first_not_of(kBlank, at_), text_.size()); }
  bool takes(char token) {
    skip_blank();
    if (next() != token) return false;
    ++at_;
    return true;
  }

  // Of the next byte. Asked in the order of the text; columns count bytes, as editors' "go to" does
  // for ASCII.
  Mark mark() {
    for (; counted_ < at_; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
  }

  std::string_view text_;
  Problems& problems_;
  Controls controls_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

Result<Value> read_json(std::string_view text, Problems& problems, Controls controls) {
  if (text.size() > kLargestDocument) {
    problems.add({}, fmt::format("larger than {} bytes", kLargestDocument));
    return problems.to_error();
  }
  Value tree;
  if (!TextReader{text, problems, controls}.document(tree)) return problems.to_error();
  return tree;
}

}  // namespace cordon::policy
