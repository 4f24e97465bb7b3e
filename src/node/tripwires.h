// SPDX-License-Identifier: Apache-2.0
// Counts what happens in and around one sandbox, and says which response of its policy is due.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frame/response.h"

namespace cordon::node {

enum class Counted : std::uint8_t { denials, new_hosts, bytes_out, processes, protected_writes };
std::string_view to_string(Counted what) noexcept;

struct Tripped {
  frame::Response response;
  std::uint64_t reached = 0;
};

// Each response is due once at most; one that was taken already never is.
class Tripwires {
 public:
  explicit Tripwires(const std::vector<frame::Response>& responses);

  bool counts(Counted what) const noexcept;
  // Gives those that are due by it.
  std::vector<Tripped> add(Counted what, std::uint64_t amount, Ticks now);
  // Of a host that was not met before.
  std::vector<Tripped> meet(const std::string& host, Ticks now);
  // Of what is known as a sum: what is more than at the last time. The first is where it begins.
  std::vector<Tripped> add_total(Counted what, std::uint64_t total, Ticks now);

 private:
  // So many parts of its time are counted each by itself: that is how exact its beginning is.
  static constexpr int kParts = 64;
  static constexpr std::size_t kMostHosts = 4096;
  struct Wire {
    frame::Response response;
    struct Part {
      Ticks since;
      std::uint64_t amount = 0;
    };
    std::deque<Part> parts;
    std::uint64_t sum = 0;
  };
  std::vector<Wire> wires_;
  std::set<std::string> hosts_;
  std::vector<std::pair<Counted, std::uint64_t>> totals_;
};

}  // namespace cordon::node
