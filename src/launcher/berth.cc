// SPDX-License-Identifier: Apache-2.0
#include "launcher/berth.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/log.h"
#include "launcher/descent.h"
#include "launcher/launch.h"
#include "launcher/root.h"
#include "launcher/tell.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

bool fits(const frame::LaunchPlan& plan) {
  // One is a sandbox of the process tier already: another tier's plan would get less than it asks
  // for.
  return plan.engine == frame::Engine::none && !plan.root_layer && !plan.network &&
         plan.ids == frame::Ids::range && plan.groups && !plan.limits.io_bytes &&
         !plan.disk.image && plan.workspace.kind == frame::WorkspaceKind::own_disk &&
         plan.workspace.pins.empty() && plan.setup.fences.capabilities.empty() &&
         own_directories(plan) <= kBerthDirectories &&
         !plan.setup.standby;  // which would run before the limits are written
}

Status resize_disk(const os::Fd& tree, const frame::Disk& disk) {
  TRY(const os::Fd context, os::fspick(tree));
  TRY_DO(os::fsconfig_string(context, "size", std::to_string(disk.bytes).c_str()));
  TRY_DO(os::fsconfig_string(context, "nr_inodes", std::to_string(disk.inodes).c_str()));
  return os::fsconfig_reconfigure(context);
}

// The calling process in another one's mount and host name namespaces, and back.
class Visit {
 public:
  explicit Visit(const Home& home) : home_{home} {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    if (!visits_) return;
    // Whoever cannot go home must not do anything: it would do it to a sandbox.
    if (!os::setns(home_.mount, os::Ns::mount) || !os::setns(home_.uts, os::Ns::uts)) ::_exit(1);
  }
  Status begin(const os::Fd& pidfd) {
    visits_ = true;
    return os::setns(pidfd, os::NsSet{os::Ns::mount, os::Ns::uts});
  }

 private:
  const Home& home_;
  bool visits_ = false;
};

}  // namespace

namespace {

Status lay_tree(Berth& berth, const JudgedPlan& plan, const HostIds& ids, const Sources& sources,
                Workshop& workshop) {
  TRY_DO(resize_disk(berth.own.front(), plan->disk));
  Visit visit{workshop.home};
  TRY_DO(visit.begin(berth.init.pidfd()));
  Ground ground;
  ground.own = std::move(berth.own);
  TRY(ground.root, os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY));
  TRY_DO(furnish(ground, plan, ids, sources));
  workshop.berths.leave(std::move(ground.own));
  TRY_DO(keep_mounts_apart());
  return os::sethostname(plan->host_name);
}

}  // namespace

std::optional<LaunchFailure> furnish_berth(Berth& berth, const JudgedPlan& plan,
                                           Workshop& workshop) {
  if (Status held = berth.groups.limit(*plan); !held) {
    return LaunchFailure{"prepare", std::move(held).error()};
  }
  const HostIds ids = host_ids(*plan, &berth.range, workshop.own);
  auto sources = open_sources(plan, ids, berth.user_namespace, workshop.sources, workshop.roots);
  if (!sources) return LaunchFailure{"prepare", std::move(sources).error()};
  // The spawner that waits gives up its ids and rights while the tree is furnished.
  Status told = tell(berth.control, frame::Tree{.stands = false});
  if (told) told = tell(berth.control, plan->setup);
  if (!told) return LaunchFailure{"start", std::move(told).error()};
  if (Status laid = lay_tree(berth, plan, ids, *sources, workshop); !laid) {
    return LaunchFailure{"root", std::move(laid).error()};
  }
  if (Status stands = tell(berth.control, frame::Tree{.stands = true}); !stands) {
    return LaunchFailure{"start", std::move(stands).error()};
  }
  berth.groups.rest();
  return std::nullopt;
}

void BerthPool::forget_all() {
  ready_.clear();
  making_.reset();  // heard of once more: that it has ended
  expected_.clear();
}

void BerthPool::drop_unexpected() {
  std::erase_if(ready_, [&](const Berth& berth) {
    return berth.furnished && !expected_.holds(berth.furnished.get());
  });
}

std::size_t BerthPool::count(const Known* furnished) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      ready_, [&](const Berth& berth) { return berth.furnished.get() == furnished; }));
}

std::optional<Berth> BerthPool::take_first(const Known* furnished) {
  for (;;) {
    const auto found = std::ranges::find_if(
        ready_, [&](const Berth& berth) { return berth.furnished.get() == furnished; });
    if (found == ready_.end()) return std::nullopt;
    Berth berth = std::move(*found);
    ready_.erase(found);
    if (berth.init.is_alive()) return berth;
  }
}

std::optional<Berth> BerthPool::take(const JudgedPlan& plan, const FloorSources& sources) {
  failed_ = false;
  if (!fits(*plan)) return std::nullopt;
  const std::int32_t landlock_abi = plan->setup.fences.landlock_abi;
  if (needs_ != needs_of(*plan) || landlock_abi_ != landlock_abi) {
    needs_ = needs_of(*plan);
    landlock_abi_ = landlock_abi;
    forget_all();
  }
  const auto known = expected_.note(plan, sources);
  drop_unexpected();
  if (known) {
    if (auto whole = take_first(known.get())) return whole;
  }
  if (auto bare = take_first(nullptr)) return bare;
  // All that wait are for others, who come less often.
  if (!ready_.empty()) ready_.pop_back();
  return std::nullopt;
}

// Half of what is ready stays bare, for plans that nobody expects.
std::shared_ptr<const Known> BerthPool::to_furnish() const noexcept {
  const std::size_t bare = count(nullptr);
  if (bare == 0 || bare * 2 <= ready_.size()) return nullptr;
  return expected_.next(ahead_ / 2, [&](const Known* known) { return count(known); });
}

void BerthPool::furnish_one(Workshop& workshop) {
  const auto plan = to_furnish();
  if (!plan) return;
  auto berth = take_first(nullptr);
  if (!berth) return;
  if (const auto failure = furnish_berth(*berth, plan->plan, workshop)) {
    log(LogLevel::warning, "launcher", "no sandbox furnished ahead",
        {{"why", std::string_view{failure->error.text()}}});
    expected_.forget(plan.get());
    return;
  }
  berth->furnished = plan;
  ready_.push_back(*std::move(berth));
}

bool BerthPool::give_up_one() {
  if (ready_.empty()) return false;
  ready_.pop_back();
  return true;
}

Result<Berth> BerthPool::start(Workshop& workshop) {
  // A plan of nothing but the needs: the groups get their limits when the real one comes.
  frame::LaunchPlan bare;
  bare.groups = true;
  bare.setup.fences.landlock_abi = landlock_abi_;
  TRY(LentIds lent, workshop.ranges.take());
  TRY(SandboxGroups groups, workshop.groups.take_bare(needs_));
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::stream));
  TRY(os::SocketPair reports, os::socketpair(os::SocketType::seqpacket));
  TRY(const Network bare_network, workshop.networks.take());
  TRY_DO(workshop.program.fill());
  const HostIds ids = host_ids(bare, &lent.range, workshop.own);
  TRY(os::Cloned cloned,
      os::clone3({.namespaces = os::NsSet{os::Ns::mount, os::Ns::pid, os::Ns::ipc, os::Ns::uts},
                  .cgroup = groups.v2_dir(),
                  .clear_signal_handlers = true}));
  if (cloned.pid == 0) {
    pair.one = os::Fd{};
    const os::Fd nobody;
    Descent descent{.plan = nullptr,
                    .fences = bare.setup.fences,
                    .ids = ids,
                    .sources = {},
                    .groups = groups,
                    .network = bare_network.netns,
                    .user_namespace = lent.user_namespace,
                    .control = pair.two,
                    .witness = nobody,
                    .program = workshop.program,
                    .launcher = workshop.self,
                    .reports = reports.two};
    const std::string text = to_report(descend(descent));
    static_cast<void>(os::send(reports.two, as_bytes(text)));
    ::_exit(1);
  }
  reports_ = std::move(reports.one);
  return Berth{std::move(lent.range),
               std::move(groups),
               os::Child{cloned.pid, std::move(cloned.pidfd)},
               std::move(pair.one),
               std::move(lent.user_namespace),
               {}};
}

void BerthPool::begin(Workshop& workshop) {
  left_.clear();
  auto begun = start(workshop);
  failed_ = !begun;
  if (begun) {
    making_.emplace(*std::move(begun));
    return;
  }
  log(LogLevel::warning, "launcher", "no sandbox ahead",
      {{"why", std::string_view{begun.error().text()}}});
}

void BerthPool::hear() {
  std::array<std::byte, kLongestReport> buffer{};
  auto got = os::receive(reports_, buffer, kBerthDirectories);
  if (making_ && got && got->bytes == 1 && got->fds.size() == kBerthDirectories &&
      making_->own.empty()) {
    making_->own = std::move(got->fds);
    return;
  }
  // Its end without a word is cordon-init's begin.
  const bool stands = making_ && got && got->bytes == 0 && !making_->own.empty();
  reports_ = os::Fd{};
  if (stands) {
    ready_.push_back(*std::move(making_));
  } else if (making_) {
    failed_ = true;
    const std::string why{reinterpret_cast<const char*>(buffer.data()), got ? got->bytes : 0};
    log(LogLevel::warning, "launcher", "no sandbox ahead", {{"why", std::string_view{why}}});
  }
  making_.reset();
}

}  // namespace cordon::launcher
