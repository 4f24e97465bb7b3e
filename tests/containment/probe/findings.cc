// SPDX-License-Identifier: Apache-2.0
// The words a row is given and the one line that it answers with.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "probe.h"

namespace cordon::probe {
namespace {

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      return "refused";
    case Outcome::succeeded:
      return "succeeded";
    case Outcome::skipped:
      return "skipped";
    case Outcome::vacuous:
      return "vacuous";
    case Outcome::broken:
      return "broken";
  }
  return "broken";
}

}  // namespace

Answer raw_call(long number, std::span<const long> arguments) {
  std::array<long, 6> words{};
  std::copy_n(arguments.begin(), std::min(arguments.size(), words.size()), words.begin());
  errno = 0;
  const long value = ::syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  return {value, value == -1 ? errno : 0};
}

Answer answer(long value) { return {value, value == -1 ? errno : 0}; }

std::string name_of_error(int error) {
  const char* const name = ::strerrorname_np(error);
  return name != nullptr ? name : std::to_string(error);
}

std::string text_of(const Answer& answer) {
  return answer.failed() ? name_of_error(answer.error)
                         : "came through: " + std::to_string(answer.value);
}

Words::Words(std::span<char* const> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) continue;
    const bool valued = i + 1 < words.size() && !std::string_view{words[i + 1]}.starts_with("--");
    values_[std::string{word.substr(2)}] = valued ? words[i + 1] : "1";
    if (valued) ++i;
  }
}

std::string Words::get(const std::string& name, const std::string& fallback) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : fallback;
}

long Words::number(const std::string& name, long fallback) const {
  const auto found = values_.find(name);
  return found != values_.end() ? std::strtol(found->second.c_str(), nullptr, 0) : fallback;
}

std::vector<std::string> Words::list(const std::string& name) const {
  std::vector<std::string> parts;
  std::string rest = get(name);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    parts.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return parts;
}

std::string Words::mirrored(const std::string& name) const {
  std::string text = get(name);
  std::reverse(text.begin(), text.end());
  return text;
}

void Findings::refused(const std::string& act, const Answer& got,
                       std::initializer_list<int> errors) {
  const bool ok =
      got.failed() && std::find(errors.begin(), errors.end(), got.error) != errors.end();
  checks_.push_back({act, text_of(got), ok});
}

void Findings::attempt(const std::string& act, const Answer& got,
                       std::initializer_list<int> errors) {
  refused("whole: " + act, got, errors);
  checks_.back().whole = true;
}

void Findings::holds(const std::string& fact, bool ok, const std::string& seen) {
  checks_.push_back({fact, seen, ok});
}

void Findings::control(const std::string& what, bool works, const std::string& seen) {
  if (!works) broken_.push_back(what + ": " + seen);
}

void Findings::skip(const std::string& why) { skipped_ = why; }

void Findings::vacuous(const std::string& why) { vacuous_ = why; }

Outcome Findings::outcome() const noexcept {
  const auto got_through = [](const Check& check) { return !check.ok; };
  if (std::any_of(checks_.begin(), checks_.end(), got_through)) return Outcome::succeeded;
  if (!broken_.empty()) return Outcome::broken;
  if (!skipped_.empty()) return Outcome::skipped;
  if (!vacuous_.empty()) return Outcome::vacuous;
  return checks_.empty() ? Outcome::skipped : Outcome::refused;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string whole;
  for (const std::string_view part : parts) whole += part;
  return whole;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      std::array<char, 8> escaped{};
      (void)std::snprintf(escaped.data(), escaped.size(), "\\u%04x", byte);
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

// What explains the outcome: a check that came through whole, one that only answered otherwise, or
// the first.
std::string Findings::detail() const {
  const auto told = [](const Check& check) { return check.name + ": " + check.seen; };
  const Check* answered = nullptr;
  for (const Check& check : checks_) {
    if (!check.ok && check.seen.starts_with("came through")) return told(check);
    if (!check.ok && answered == nullptr) answered = &check;
  }
  if (answered != nullptr) return told(*answered);
  if (!broken_.empty()) return broken_.front();
  if (!skipped_.empty()) return skipped_;
  if (!vacuous_.empty()) return vacuous_;
  return checks_.empty() ? "" : told(checks_.front());
}

std::string Findings::json(std::string_view row) const {
  std::string out = R"({"row":)" + json_text(row) + R"(,"outcome":)" +
                    json_text(word_of(outcome())) + R"(,"detail":)" + json_text(detail()) +
                    R"(,"checks":[)";
  for (const Check& check : checks_) {
    if (&check != &checks_.front()) out += ',';
    out += R"({"name":)" + json_text(check.name) + R"(,"errno":)" + json_text(check.seen) +
           R"(,"ok":)" + (check.ok ? "true" : "false") + (check.whole ? R"(,"whole":true})" : "}");
  }
  return out + "]}";
}

}  // namespace cordon::probe
