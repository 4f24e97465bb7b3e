// SPDX-License-Identifier: Apache-2.0
// Processes that were started over this face: what their client called them, and who reads what
// they write. A process whose readers have left goes on, and what it writes then is nobody's.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/e2b/process_message.h"
#include "base/result.h"
#include "node/resident.h"

namespace cordon::api::e2b {

struct FollowedProcess {
  std::shared_ptr<node::Resident> resident;
  std::shared_ptr<node::ResidentProcess> process;
  ProcessConfig config;
  std::string tag;
  bool was_signalled = false;          // its end is told without waiting for what it had started
  bool is_late = false;                // its time was over
  std::list<node::Offsets> readers{};  // how far each has come

  // What every reader has, or nobody wants, need not be kept.
  void settle();
  // It has ended, and what there is to tell of it is complete.
  bool is_over() const;
};
using Followed = std::shared_ptr<FollowedProcess>;

// One that reads, from what is written next on or from the beginning, until it goes.
class Reader {
 public:
  Reader(Followed followed, const node::Offsets& from);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  node::Offsets& at() { return *at_; }
  FollowedProcess& followed() { return *followed_; }

 private:
  Followed followed_;
  std::list<node::Offsets>::iterator at_;
};

class FollowedProcesses {
 public:
  Followed add(FollowedProcess followed);
  void remove(const FollowedProcess& followed);

  // Those that run, and those that have ended lately where they are asked for by name.
  Result<Followed> find(const node::Resident& resident, const Selector& selector) const;
  std::vector<Followed> living(const node::Resident& resident) const;

 private:
  std::map<std::string, std::map<std::uint32_t, Followed>> by_sandbox_;  // and number
};

}  // namespace cordon::api::e2b
