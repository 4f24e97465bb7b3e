// SPDX-License-Identifier: Apache-2.0
// A registrar's part in the fleet's policy: what is meant for its node, to its node.
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "fleet/registrar.h"
#include "gate/release.h"
#include "hash/sha256.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::seconds kRead{2};

}  // namespace

bool Registrar::took_policy(const Summary& said) {
  const Summary before = summary_;
  summary_.release = said.release;
  summary_.refused = said.refused;
  summary_.why = said.why;
  summary_.turned_away = said.turned_away;
  if (unfit_ && offered_ && *offered_ != said.release) {
    summary_.refused = *offered_;
    summary_.why = plain_words(unfit_->text());
  }
  return summary_.release != before.release || summary_.refused != before.refused ||
         summary_.why != before.why || (summary_.turned_away == 0) != (before.turned_away == 0);
}

// A rollout that is gone, or that nobody can read, changes nothing: a cluster that has lost its
// data must not loosen what nodes hold.
asio::awaitable<void> Registrar::follow_policy() {
  etcd::Mirror mirror{
      parts_.all, std::string{kRolloutKey}, [this](const std::vector<etcd::Event>& events) {
        for (const etcd::Event& event : events) {
          if (event.kind == etcd::Event::Kind::removed || event.now.key != kRolloutKey) continue;
          auto rollout = decode_rollout(event.now.value);
          if (rollout) {
            rollout_ = *std::move(rollout);
          } else {
            log(LogLevel::error, "registrar", "a rollout of the policy that nobody can read",
                {{"why", rollout.error().text()}});
          }
        }
      }};
  const Status ended = co_await mirror.run();
  log(LogLevel::error, "registrar", "the fleet's policy is not followed any more",
      {{"why", ended.error().text()}});
}

// `invalid`: it is none that the node could be given.
async::Task<std::string> Registrar::text_of(Rollout rollout, std::uint64_t release) {
  CO_TRY(const etcd::Found found,
         co_await parts_.all.range({.keys = etcd::only(release_key(release))}, kRead));
  if (found.values.empty()) {
    co_return Error{Errc::invalid, fmt::format("release {}: its text is not in etcd", release)};
  }
  const std::string& text = found.values.front().value;
  if (text.size() > gate::kLargestRelease) {
    co_return Error{Errc::invalid, fmt::format("release {}: {} bytes, a release has at most {}",
                                               release, text.size(), gate::kLargestRelease)};
  }
  if (release == rollout.release && to_hex(sha256({as_bytes(text)})) != rollout.sha256) {
    co_return Error{Errc::invalid,
                    fmt::format("release {}: its text is not the one that was pushed", release)};
  }
  co_return text;
}

// `invalid`: it is not to be tried again.
async::Task<void> Registrar::give(Rollout rollout, std::uint64_t release) {
  Question question{.method = "DELETE", .path = "/v1/node/policy"};
  if (release != 0) {
    CO_TRY(question.body, co_await text_of(std::move(rollout), release));
    question.method = "PUT";
    question.path += fmt::format("?release={}", release);
  }
  CO_TRY(const Said said, co_await parts_.ask(std::move(question)));
  // What is wrong with it the node says itself, of itself.
  if (said.status < 300 || said.status == 400) co_return Status{};
  const auto code = said.status < 500 ? Errc::invalid : Errc::unavailable;
  co_return Error{code, fmt::format("release {}: the node answers {}", release, said.status)};
}

asio::awaitable<void> Registrar::hand_release() {
  if (!rollout_) co_return;
  const std::uint64_t wanted = release_for(*rollout_, node_);
  if (wanted == summary_.release) co_return;
  if (offered_ == wanted && summary_.refused == wanted) co_return;
  const Status given = co_await give(*rollout_, wanted);
  if (given || given.error().code() == Errc::invalid) {
    offered_ = wanted;
    unfit_.reset();
  }
  if (given) co_return;
  log(LogLevel::warning, "registrar", "the node was not given the release that is meant for it",
      {{"why", given.error().text()}});
  if (given.error().code() == Errc::invalid) unfit_ = given.error();
}

}  // namespace cordon::fleet
