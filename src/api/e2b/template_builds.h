// SPDX-License-Identifier: Apache-2.0
// Builds of templates: asked for, under way, over. One that a node was at when it ended is lost,
// and its client is told so. (values)
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace cordon::api::e2b {

enum class BuildStatus : std::uint8_t { waiting, building, ready, error };
std::string_view to_string(BuildStatus status) noexcept;

struct BuildLine {
  WallTime time{};
  bool is_error = false;
  std::string text;  // what programs wrote: any bytes, as UTF-8
};

struct Build {
  static constexpr std::size_t kMostLines = 10'000;
  static constexpr std::size_t kLongestLine = 4'096;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of all lines

  std::string id;
  std::string tenant;
  std::string owner;  // the same, as the launcher knows it
  std::string template_id;
  std::string alias;
  std::vector<std::string> tags;
  std::uint64_t processors = 0;  // of its sandboxes; 0: as usual
  std::uint64_t memory_megabytes = 0;
  BuildStatus status = BuildStatus::waiting;
  std::vector<BuildLine> lines{};
  std::uint64_t left_out = 0;  // lines beyond those that are kept
  std::string failure{};       // of `error`
  std::string failed_step{};   // "base", "3", "finalize"

  // Whole lines of what a program writes; the rest waits for more.
  void hear(WallTime now, bool is_error, std::string_view bytes);
  // What waits becomes a line.
  void end_line(WallTime now);
  void say(WallTime now, std::string_view text);

 private:
  void add(WallTime now, bool is_error, std::string_view line);
  std::size_t bytes_ = 0;
  std::string begun_{};
  bool is_error_begun_ = false;
};

// Used from the loop's thread only.
class Builds {
 public:
  // That are told of, of one tenant and of all; the oldest of those that are not under way make
  // room, a tenant's own first.
  static constexpr std::size_t kMostKept = 32;
  static constexpr std::size_t kMost = 1'024;
  // At once, of all tenants and of one.
  static constexpr std::size_t kMostRunning = 4;
  static constexpr std::size_t kMostOfTenant = 2;

  // `exhausted`: as many are under way as are kept.
  Status add(std::shared_ptr<Build> build);
  // nullptr: there is none, or it is another tenant's.
  std::shared_ptr<Build> find(std::string_view tenant, std::string_view id) const;
  // Whether somebody of `tenant` is about to build it.
  bool is_asked(std::string_view tenant, std::string_view template_id) const;
  // `exhausted`: another may not begin now.
  Status may_begin(std::string_view tenant) const;

 private:
  // Of `tenant`, or of anybody where that is empty.
  Status make_room(std::string_view tenant);

  std::deque<std::shared_ptr<Build>> builds_;  // in the order of their coming
};

// What a client is told of one, with its lines from `offset` on.
std::string to_json(const Build& build, std::size_t offset);

}  // namespace cordon::api::e2b
