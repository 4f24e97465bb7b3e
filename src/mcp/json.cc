// SPDX-License-Identifier: Apache-2.0
#include "mcp/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "mcp/fold.h"
#include "policy/text.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kDigits = "0123456789";
constexpr std::uint64_t kExact = (std::uint64_t{1} << 53U) - 1;

// What is malformed ends the reading; what is only ambiguous is noted, so that the id of a refused
// line can still be told.
class LineReader {
 public:
  LineReader(std::string_view line, Numbers numbers) : line_{line}, numbers_{numbers} {}

  ReadJson read() {
    ReadJson done;
    if (!is_utf8(line_)) {
      done.refused = "it is not valid UTF-8";
      return done;
    }
    skip_blank();
    if (next() == '[') {
      refuse("it is a batch, or a list");
    } else if (next() != '{') {
      refuse("it is not a JSON object");
    } else if (value(done.top, 1)) {
      skip_blank();
      done.is_whole = at_ == line_.size();
      if (!done.is_whole) refuse("something follows the end of its object");
    } else {
      refuse("it is not valid JSON");
    }
    done.refused = std::move(refused_);
    return done;
  }

 private:
  void refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
  }
  bool fail(std::string why) {
    refuse(std::move(why));
    return false;
  }

  bool value(Json& to, int depth) {
    if (depth > kDeepestLine)
      return fail(fmt::format("it is nested deeper than {} levels", kDeepestLine));
    if (++values_ > kMostValues)
      return fail(fmt::format("it has more than {} values", kMostValues));
    skip_blank();
    to.begin = at_;
    const bool read = value_of_kind(to, depth);
    to.end = at_;
    return read;
  }

  bool value_of_kind(Json& to, int depth) {
    switch (next()) {
      case '{':
        return object(to, depth);
      case '[':
        return list(to, depth);
      case '"':
        to.kind = JsonKind::text;
        return string(to.text);
      case 't':
        return word(to, "true", JsonKind::boolean);
      case 'f':
        return word(to, "false", JsonKind::boolean);
      case 'n':
        return word(to, "null", JsonKind::null);
      default:
        return number(to);
    }
  }

  bool object(Json& to, int depth) {
    to.kind = JsonKind::object;
    ++at_;
    std::unordered_set<std::string> keys;
    for (bool first = true; !takes('}'); first = false) {
      if (!first && !takes(',')) return false;
      skip_blank();
      JsonMember member;
      member.begin = at_;
      if (next() != '"' || !string(member.key)) return false;
      judge_key(member.key, keys);
      if (!takes(':') || !value(member.value, depth + 1)) return false;
      to.members.push_back(std::move(member));
    }
    return true;
  }

  void judge_key(const std::string& key, std::unordered_set<std::string>& keys) {
    if (key.find('\0') != std::string::npos) refuse("a key has NUL in it");
    if (!keys.insert(folded(key)).second) {
      refuse(fmt::format("the key {} is there twice, perhaps in other letters or escapes",
                         policy::in_quotes(key)));
    }
  }

  bool list(Json& to, int depth) {
    to.kind = JsonKind::list;
    ++at_;
    for (bool first = true; !takes(']'); first = false) {
      if (!first && !takes(',')) return false;
      if (!value(to.items.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  // Before: at a quote.
  bool string(std::string& to) {
    for (++at_; at_ < line_.size();) {
      const std::size_t plain = at_;
      while (at_ < line_.size() && line_[at_] != '"' && line_[at_] != '\\') {
        if (static_cast<unsigned char>(line_[at_]) < 0x20) return false;
        ++at_;
      }
      to.append(line_, plain, at_ - plain);
      if (at_ == line_.size()) return false;
      if (line_[at_++] == '"') return true;
      if (!escape(to)) return false;
    }
    return false;
  }

  bool escape(std::string& to) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = next();
    if (letter == '\0') return false;
    ++at_;
    if (const std::size_t known = kLetters.find(letter); known != std::string_view::npos) {
      to += kMeanings[known];
      return true;
    }
    std::uint32_t code = 0;
    if (letter != 'u' || !hex(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (!line_.substr(at_).starts_with("\\u")) return fail("it has half a surrogate pair");
      at_ += 2;
      if (!hex(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return fail("it has half a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return fail("it has half a surrogate pair");
    }
    append_utf8(to, code);
    return true;
  }

  bool hex(std::uint32_t& code) {
    constexpr std::size_t kLength = 4;
    if (line_.size() - at_ < kLength) return false;
    const char* const begin = line_.data() + at_;
    at_ += kLength;
    return std::from_chars(begin, begin + kLength, code, 16).ptr == begin + kLength;
  }

  bool word(Json& to, std::string_view spelling, JsonKind kind) {
    if (!line_.substr(at_).starts_with(spelling)) return false;
    at_ += spelling.size();
    to.kind = kind;
    return ends_here();
  }

  bool ends_here() const {
    return at_ == line_.size() || std::string_view{",]} \t\r\n"}.find(line_[at_]) != line_.npos;
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    at_ = std::min(line_.find_first_not_of(kDigits, at_), line_.size());
    return at_ - begin;
  }

  bool number(Json& to) {
    to.kind = JsonKind::number;
    const std::size_t begin = at_;
    if (next() == '-') ++at_;
    const bool zero = next() == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    bool integer = true;
    if (next() == '.') {
      ++at_;
      integer = false;
      if (digits() == 0) return false;
    }
    if (next() == 'e' || next() == 'E') {
      ++at_;
      integer = false;
      if (next() == '+' || next() == '-') ++at_;
      if (digits() == 0) return false;
    }
    if (!ends_here()) return false;
    judge_number(line_.substr(begin, at_ - begin), integer);
    return true;
  }

  // Whether the exponent, "e-308", is past what a double has: whatever stands before it, some
  // readers do not read on.
  static bool is_far(std::string_view exponent) {
    constexpr int kFarthest = std::numeric_limits<double>::max_exponent10;
    if (exponent.empty()) return false;
    exponent.remove_prefix(1);
    if (exponent.starts_with('+') || exponent.starts_with('-')) exponent.remove_prefix(1);
    int value = 0;
    const auto [end, error] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    return error != std::errc{} || value > kFarthest || exponent.size() > 3;
  }

  void judge_number(std::string_view spelled, bool integer) {
    // Longer ones have digits that no reader keeps, and readers that give up.
    constexpr std::size_t kLongest = 64;
    if (spelled.size() > kLongest) return refuse("it has a number of more than 64 characters");
    const std::string text{spelled};
    const double content = std::strtod(text.c_str(), nullptr);  // no locale is ever set
    if (!std::isfinite(content)) return refuse("it has a number without a finite value");
    // Too small to be told from nothing: some readers say 0, some give up.
    const std::size_t exponent = spelled.find_first_of("eE");
    const bool is_tiny = std::abs(content) < std::numeric_limits<double>::min() &&
                         spelled.substr(0, exponent).find_first_of("123456789") != spelled.npos;
    if (is_tiny || is_far(spelled.substr(std::min(exponent, spelled.size()))))
      return refuse("it has a number that readers round to 0, or do not read");
    if (numbers_ == Numbers::any || std::abs(content) <= static_cast<double>(kExact)) return;
    if (integer || content == std::floor(content)) {
      refuse("it has a whole number past 2^53, which readers round differently");
    }
  }

  // NUL at the end: no token begins with it.
  char next() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  void skip_blank() { at_ = std::min(line_.find_first_not_of(kBlank, at_), line_.size()); }
  bool takes(char token) {
    skip_blank();
    if (next() != token) return false;
    ++at_;
    return true;
  }

  std::string_view line_;
  Numbers numbers_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::string refused_;
};

}  // namespace

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xE0U | code >> 12U);
    } else {
      put(0xF0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3FU));
    }
    put(0x80U | (code >> 6U & 0x3FU));
  }
  put(0x80U | (code & 0x3FU));
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

const Json* Json::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(members, key, &JsonMember::key);
  return found == members.end() ? nullptr : &found->value;
}

const std::string* Json::find_text(std::string_view key) const noexcept {
  const Json* const value = find(key);
  return value != nullptr && value->is_text() ? &value->text : nullptr;
}

ReadJson read_line(std::string_view line, Numbers numbers) {
  return LineReader{line, numbers}.read();
}

}  // namespace cordon::mcp
