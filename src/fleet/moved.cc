// SPDX-License-Identifier: Apache-2.0
#include "fleet/moved.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "base/log.h"
#include "etcd/mirror.h"

namespace cordon::fleet {
namespace {

constexpr std::size_t kMoveLetters = 32;

// What stands before the next `end`, which goes with it.
std::string_view cut(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

}  // namespace

std::string moved_key_of(std::string_view sandbox) {
  return std::string{kMoved} + std::string{sandbox};
}

std::string encode(const Passage& passage) {
  return fmt::format("{} {} {}", to_string(passage.to), to_string(passage.from), passage.move);
}

Result<Passage> decode_passage(std::string_view value) {
  const auto to = node_named(cut(value, ' '));
  const auto from = node_named(cut(value, ' '));
  const bool is_move = value.size() == kMoveLetters &&
                       value.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!to || !from || !is_move) return Error{Errc::invalid, "not where a sandbox was moved"};
  return Passage{.to = *to, .from = *from, .move = std::string{value}};
}

std::optional<NodeId> Moved::where(std::string_view sandbox) const {
  if (const Passage* const known = passage(sandbox)) return known->to;
  const auto heard = heard_.find(sandbox);
  return heard == heard_.end() ? std::nullopt : std::optional{heard->second};
}

const Passage* Moved::passage(std::string_view sandbox) const {
  const auto found = passages_.find(sandbox);
  return found == passages_.end() ? nullptr : &found->second;
}

std::vector<std::string> Moved::names() const {
  const auto all = std::views::keys(passages_);
  return {all.begin(), all.end()};
}

std::vector<std::string> Moved::took(const std::map<std::string, etcd::KeyValue>& values) {
  std::map<std::string, Passage, std::less<>> now;
  std::vector<std::string> news;
  for (const auto& [key, value] : values) {
    if (!key.starts_with(kMoved)) continue;
    std::string sandbox = key.substr(kMoved.size());
    auto passage = decode_passage(value.value);
    if (!passage || !SandboxId::parse(sandbox)) {
      log(LogLevel::warning, "fleet", "a sandbox was moved to where nobody can read",
          {{"key", key}});
      continue;
    }
    const Passage* const before = this->passage(sandbox);
    if (before == nullptr || *before != *passage) news.push_back(sandbox);
    now.emplace(std::move(sandbox), *std::move(passage));
  }
  passages_ = std::move(now);
  return news;
}

void Moved::know(const std::string& sandbox, Passage passage) {
  passages_.insert_or_assign(sandbox, std::move(passage));
}

void Moved::forget(std::string_view sandbox) {
  if (const auto found = passages_.find(sandbox); found != passages_.end()) passages_.erase(found);
  if (const auto found = heard_.find(sandbox); found != heard_.end()) heard_.erase(found);
}

void Moved::heard(const std::string& sandbox, NodeId to) {
  if (!heard_.insert_or_assign(sandbox, to).second) return;
  heard_order_.push_back(sandbox);
  if (heard_order_.size() <= kMostHeard) return;
  heard_.erase(heard_order_.front());
  heard_order_.erase(heard_order_.begin());
}

// SANDBOX TO FROM MOVE
std::string Moved::saved() const {
  std::string text;
  for (const auto& [sandbox, passage] : passages_) text += sandbox + ' ' + encode(passage) + '\n';
  return text;
}

void Moved::restore(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const auto sandbox = SandboxId::parse(cut(line, ' '));
    auto passage = decode_passage(line);
    if (sandbox && passage) know(sandbox->text(), *std::move(passage));
  }
}

async::Task<void> follow_moved(etcd::Client& client, Moved& moved, MovedNews news) {
  bool is_first = true;
  etcd::Mirror* told = nullptr;
  etcd::Mirror mirror{client, std::string{kMoved}, [&](const std::vector<etcd::Event>&) {
                        const auto fresh = moved.took(told->values());
                        const bool is_late = std::exchange(is_first, false);
                        for (const std::string& sandbox : fresh) news(sandbox, is_late);
                      }};
  told = &mirror;
  co_return co_await mirror.run();
}

}  // namespace cordon::fleet
