// SPDX-License-Identifier: Apache-2.0
// Measures refused tokens in turn, 10,000 of each kind. Fails when a clock tells how much of a tag
// was guessed (Welch's t), or when another kind of refusal takes 5 % more or less.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "token/token.h"
#include "token/verify.h"

namespace {

namespace token = cordon::token;

constexpr std::size_t kTries = 10'000;
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1'800'000'000}};

struct Kind {
  std::string_view name;
  std::string text;
  std::vector<double> micros{};
};

struct Spread {
  double mean = 0;
  double variance = 0;
  double count = 0;
};

// Without the slowest tenth, in which other programs ran.
Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  values.resize(values.size() * 9 / 10);
  Spread spread{.count = static_cast<double>(values.size())};
  for (const double value : values) spread.mean += value / spread.count;
  for (const double value : values) {
    spread.variance += (value - spread.mean) * (value - spread.mean) / (spread.count - 1);
  }
  return spread;
}

double welch_t(const Spread& a, const Spread& b) {
  return (a.mean - b.mean) / std::sqrt(a.variance / a.count + b.variance / b.count);
}

token::RootKey root(std::uint8_t number) {
  cordon::Digest bytes{};
  bytes.fill(std::byte{7});
  return token::RootKey{token::Secret{bytes}, number};
}

std::vector<Kind> kinds() {
  const token::Minted minted{.caveats = {token::TenantIs{"acme"},
                                         token::ExpiresAt{kNow + std::chrono::hours{1}},
                                         token::PathBelow{"/workspace"}}};
  constexpr std::array<std::byte, token::kIdSize> kId{};
  const auto made = [&](const token::RootKey& key, std::string_view audience) {
    return *token::mint(*key.derive(audience), kId, minted);
  };
  const std::string good = made(root(1), "node-a");
  const auto changed = [&](std::size_t from_end) {
    std::string text = good;
    char& c = text[text.size() - from_end];
    c = c == 'A' ? 'B' : 'A';
    return text;
  };
  return {{"wrong from the tag's first bytes", changed(40)},
          {"wrong in the tag's last bytes", changed(3)},
          {"another audience", made(root(1), "node-b")},
          {"another key", made(root(2), "node-a")},
          {"cut off", good.substr(0, good.size() - 4)}};
}

void measure(std::vector<Kind>& all, std::uint32_t seed) {
  const std::array<token::AudienceKey, 1> keys{*root(1).derive("node-a")};
  const token::Verifier verifier{.keys = keys, .now = kNow, .is_revoked = {}};
  std::minstd_rand random{seed};
  for (std::size_t i = 0; i < kTries * all.size(); ++i) {
    Kind& kind = all[random() % all.size()];
    const auto begin = std::chrono::steady_clock::now();
    const bool taken = token::verify(kind.text, verifier).has_value();
    const auto end = std::chrono::steady_clock::now();
    if (taken) std::abort();
    kind.micros.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
}

// p = 0.01, both sides.
constexpr double kTellsApart = 2.58;
constexpr double kFarApart = 0.05;

bool hold(std::uint32_t seed) {
  std::vector<Kind> all = kinds();
  measure(all, seed);
  const Spread first = spread_of(all[0].micros);
  bool holds = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Spread spread = spread_of(all[i].micros);
    const double t = welch_t(spread, first);
    const double apart = spread.mean / first.mean - 1;
    std::cout << fmt::format("{:<34} n {:>5}  mean {:7.2f} us  {:+.2f} %  t {:+.1f}\n", all[i].name,
                             all[i].micros.size(), spread.mean, apart * 100, t);
    if (i == 1 && std::abs(t) > kTellsApart) holds = false;
    if (std::abs(apart) > kFarApart) holds = false;
  }
  return holds;
}

}  // namespace

int main() {
  // What chance does once in a hundred times it does not do three times running.
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    if (hold(seed)) return 0;
  }
  std::cerr << "refused tokens can be told apart by a clock\n";
  return 1;
}
