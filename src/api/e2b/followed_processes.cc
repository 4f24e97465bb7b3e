// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/followed_processes.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace cordon::api::e2b {

void FollowedProcess::settle() {
  node::Offsets floor = process->written();
  for (const node::Offsets& at : readers) {
    for (std::size_t stream = 0; stream < floor.size(); ++stream) {
      floor[stream] = std::min(floor[stream], at[stream]);
    }
  }
  static_cast<void>(process->acknowledge(floor));
}

bool FollowedProcess::is_over() const {
  return process->is_over() || (was_signalled && process->exited().has_value());
}

Reader::Reader(Followed followed, const node::Offsets& from)
    : followed_{std::move(followed)},
      at_{followed_->readers.insert(followed_->readers.end(), from)} {}

Reader::~Reader() {
  followed_->readers.erase(at_);
  followed_->settle();
}

Followed FollowedProcesses::add(FollowedProcess followed) {
  const std::string id = followed.resident->facts().id.text();
  const std::uint32_t number = followed.process->number();
  auto shared = std::make_shared<FollowedProcess>(std::move(followed));
  by_sandbox_[id].insert_or_assign(number, shared);
  return shared;
}

void FollowedProcesses::remove(const FollowedProcess& followed) {
  const auto found = by_sandbox_.find(followed.resident->facts().id.text());
  if (found == by_sandbox_.end()) return;
  found->second.erase(followed.process->number());
  if (found->second.empty()) by_sandbox_.erase(found);
}

Result<Followed> FollowedProcesses::find(const node::Resident& resident,
                                         const Selector& selector) const {
  const auto found = by_sandbox_.find(resident.facts().id.text());
  const auto is_meant = [&](const Followed& each) {
    if (const auto* tag = std::get_if<std::string>(&selector)) return each->tag == *tag;
    return each->process->pid() == std::get<std::uint32_t>(selector);
  };
  if (found != by_sandbox_.end()) {
    // A number may come again: the latest is meant.
    for (const auto& [number, each] : std::views::reverse(found->second)) {
      if (is_meant(each)) return each;
    }
  }
  return Error{Errc::not_found, "there is no such process"};
}

std::vector<Followed> FollowedProcesses::living(const node::Resident& resident) const {
  std::vector<Followed> all;
  const auto found = by_sandbox_.find(resident.facts().id.text());
  if (found == by_sandbox_.end()) return all;
  for (const auto& [number, each] : found->second) {
    if (!each->process->exited() && !each->process->is_over()) all.push_back(each);
  }
  return all;
}

}  // namespace cordon::api::e2b
