// SPDX-License-Identifier: Apache-2.0
#include "egress/key_shapes.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/bytes.h"

namespace cordon::egress {
namespace {

using PartKind = KeyPart::Kind;

constexpr KeyShape kShapes[] = {
    {"an AWS access key", {{{"AKIA", PartKind::upper, 16}}}},
    {"a temporary AWS access key", {{{"ASIA", PartKind::upper, 16}}}},
    {"a GitHub token", {{{"ghp_", PartKind::alnum, 36}}}},
    {"a GitHub OAuth token", {{{"gho_", PartKind::alnum, 36}}}},
    {"a GitHub user token", {{{"ghu_", PartKind::alnum, 36}}}},
    {"a GitHub server token", {{{"ghs_", PartKind::alnum, 36}}}},
    {"a GitHub refresh token", {{{"ghr_", PartKind::alnum, 36}}}},
    {"a fine-grained GitHub token", {{{"github_pat_", PartKind::word, 50}}}},
    {"a GitLab token", {{{"glpat-", PartKind::word, 20}}}},
    {"a Slack bot token", {{{"xoxb-", PartKind::word, 24}}}},
    {"a Slack user token", {{{"xoxp-", PartKind::word, 24}}}},
    {"a Slack app token", {{{"xoxa-", PartKind::word, 24}}}},
    {"a Slack refresh token", {{{"xoxr-", PartKind::word, 24}}}},
    {"a Slack session token", {{{"xoxs-", PartKind::word, 24}}}},
    {"an Anthropic key", {{{"sk-ant-", PartKind::word, 32}}}},
    {"an OpenAI project key", {{{"sk-proj-", PartKind::word, 32}}}},
    {"an OpenAI key", {{{"sk-", PartKind::alnum, 32}}}},
    {"a Google key", {{{"AIza", PartKind::word, 35}}}},
    {"a Stripe key", {{{"sk_live_", PartKind::alnum, 24}}}},
    {"an npm token", {{{"npm_", PartKind::alnum, 36}}}},
    {"a private key", {{{"-----BEGIN PRIVATE KEY-----"}}}, false},
    {"an encrypted private key", {{{"-----BEGIN ENCRYPTED PRIVATE KEY"}}}, false},
    {"an RSA private key", {{{"-----BEGIN RSA PRIVATE KEY"}}}, false},
    {"an EC private key", {{{"-----BEGIN EC PRIVATE KEY---"}}}, false},
    {"a DSA private key", {{{"-----BEGIN DSA PRIVATE KEY"}}}, false},
    {"an OpenSSH private key", {{{"-----BEGIN OPENSSH PRIVATE KEY"}}}, false},
    {"a PGP private key", {{{"-----BEGIN PGP PRIVATE KEY"}}}, false},
    {"a JSON web token",
     {{{"eyJ", PartKind::word, 10}, {".eyJ", PartKind::word, 10}, {".", PartKind::word, 20}}}},
};
static_assert(std::size(kShapes) <= KeyWatch::kMostShapes);

bool is_alnum(std::uint8_t c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_of(PartKind kind, std::uint8_t c) noexcept {
  switch (kind) {
    case PartKind::upper:
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    case PartKind::alnum:
      return is_alnum(c);
    case PartKind::word:
      return is_alnum(c) || c == '-' || c == '_';
    case PartKind::any:
      return true;
  }
  return false;
}

// Of the first texts. Made once, of nothing secret.
const Automaton& beginnings() {
  static const Automaton automaton = [] {
    std::vector<Pattern> patterns;
    for (std::size_t i = 0; i < std::size(kShapes); ++i) {
      const auto text = as_bytes(kShapes[i].parts[0].text);
      patterns.push_back({WipedBytes{text.begin(), text.end()}, static_cast<std::uint8_t>(i)});
    }
    return Automaton{patterns, Fold::none};
  }();
  return automaton;
}

}  // namespace

std::span<const KeyShape> key_shapes() { return kShapes; }

void KeyWatch::add_beginnings(BytePairs& pairs) { beginnings().add_beginnings(pairs, "%\\"); }

void KeyWatch::begin(std::uint8_t shape) noexcept {
  const KeyShape& of = kShapes[shape];
  const std::size_t length = of.parts[0].text.size();
  if (of.begins_a_word && at_ > length) {
    const std::uint8_t before = recent_[(at_ - 1 - length) % recent_.size()];
    if (is_alnum(before) || before == '_') return;
  }
  const std::uint32_t bit = std::uint32_t{1} << shape;
  if ((active_ & bit) != 0) return;  // the one before it is further
  active_ |= bit;
  progress_[shape] = {.text = static_cast<std::uint8_t>(length)};
}

KeyWatch::Step KeyWatch::advance(Progress& progress, const KeyShape& shape,
                                 std::uint8_t byte) noexcept {
  const KeyPart& part = shape.parts[progress.part];
  if (progress.text < part.text.size()) {
    if (static_cast<std::uint8_t>(part.text[progress.text]) != byte) return Step::failed;
    ++progress.text;
    return Step::goes_on;
  }
  const bool last =
      progress.part + 1U == shape.parts.size() || shape.parts[progress.part + 1U].text.empty();
  if (is_of(part.kind, byte)) {
    if (progress.count < part.least) ++progress.count;
    return last && progress.count == part.least ? Step::done : Step::goes_on;
  }
  if (last || progress.count < part.least) return Step::failed;
  ++progress.part;
  progress.text = 0;
  progress.count = 0;
  return advance(progress, shape, byte);
}

std::uint8_t KeyWatch::step(std::uint8_t byte) noexcept {
  passed(byte);
  std::uint8_t found = kNone;
  for (std::uint32_t left = active_; left != 0; left &= left - 1) {
    const auto shape = static_cast<std::uint8_t>(std::countr_zero(left));
    const Step step = advance(progress_[shape], kShapes[shape], byte);
    if (step == Step::done) found = shape;
    if (step != Step::goes_on) active_ &= ~(std::uint32_t{1} << shape);
  }
  state_ = beginnings().step(state_, byte);
  const std::uint8_t begun = beginnings().match(state_);
  if (begun != kNone) {
    if (kShapes[begun].parts[0].least == 0) return begun;  // its text is all of it
    begin(begun);
  }
  return found;
}

}  // namespace cordon::egress
