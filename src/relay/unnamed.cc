// SPDX-License-Identifier: Apache-2.0
#include "relay/unnamed.h"

#include <algorithm>
#include <cerrno>

#include "os/filter/judged_call.h"

namespace cordon::relay {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kMostWaiting = 4096;

bool is_of_a_fence(std::uint32_t error_number) {
  return error_number == EROFS || error_number == EACCES || error_number == EPERM ||
         error_number == EBUSY;
}

frame::TracedKind kind_of(std::uint32_t call) {
  return os::call_name(call).starts_with("exec") ? frame::TracedKind::exec
                                                 : frame::TracedKind::open;
}

}  // namespace

bool is_told(frame::TracedKind kind, std::uint32_t error_number, std::uint32_t flags) {
  if (kind == frame::TracedKind::connect || is_of_a_fence(error_number)) return true;
  if (error_number != 0) return false;
  return kind == frame::TracedKind::exec || (flags & frame::kOpenWrites) != 0;
}

void Unnamed::called(const TracedNumber& number, Time now) {
  if (!is_told(kind_of(number.call), number.error_number, number.flags)) return;
  if (waiting_.size() < kMostWaiting) {
    waiting_.push_back({number, now});
  } else {
    ++count_;
  }
}

void Unnamed::named(const frame::TracedAct& act) {
  const auto found = std::ranges::find_if(waiting_, [&](const Waiting& each) {
    return each.number.call == act.call && each.number.error_number == act.error_number &&
           each.number.flags == act.flags;
  });
  if (found != waiting_.end()) waiting_.erase(found);
}

void Unnamed::give_up(Time now) {
  while (!waiting_.empty() && now - waiting_.front().since >= kPatience) {
    waiting_.pop_front();
    ++count_;
  }
}

void Unnamed::give_up_all() {
  count_ += waiting_.size();
  waiting_.clear();
}

}  // namespace cordon::relay
