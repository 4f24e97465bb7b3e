// SPDX-License-Identifier: Apache-2.0
#include "launcher/berth.h"

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/log.h"
#include "launcher/descent.h"
#include "launcher/launch.h"
#include "launcher/root.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kLongestReport = 4096;

bool fits(const frame::LaunchPlan& plan) {
  return plan.ids == frame::Ids::range && plan.groups && !plan.limits.io_bytes &&
         !plan.disk.image && plan.workspace.kind == frame::WorkspaceKind::own_disk &&
         plan.workspace.pins.empty() && plan.setup.fences.capabilities.empty() &&
         own_directories(plan) <= kBerthDirectories;
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

bool Berth::is_alive() const noexcept {
  pollfd end{.fd = init.pidfd().get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

Status furnish_berth(Berth& berth, const JudgedPlan& plan, const HostIds& ids,
                     const Sources& sources, Workshop& workshop) {
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

std::optional<Berth> BerthPool::take(const frame::LaunchPlan& plan) {
  failed_ = false;
  if (!fits(plan)) return std::nullopt;
  const std::int32_t landlock_abi = plan.setup.fences.landlock_abi;
  if (needs_ != needs_of(plan) || landlock_abi_ != landlock_abi) {
    needs_ = needs_of(plan);
    landlock_abi_ = landlock_abi;
    ready_.clear();
    making_.reset();  // heard of once more: that it has ended
  }
  while (!ready_.empty()) {
    Berth berth = std::move(ready_.front());
    ready_.pop_front();
    if (berth.is_alive()) return berth;
  }
  return std::nullopt;
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
  TRY(const os::Fd net, workshop.networks.take());
  TRY_DO(workshop.program.fill());
  const HostIds ids = host_ids(bare, &lent.range, workshop.own);
  TRY(os::Cloned cloned,
      os::clone3({.namespaces = os::NsSet{os::Ns::mount, os::Ns::pid, os::Ns::ipc, os::Ns::uts},
                  .cgroup = groups.v2_dir(),
                  .clear_signal_handlers = true}));
  if (cloned.pid == 0) {
    pair.one = os::Fd{};
    Descent descent{.plan = nullptr,
                    .fences = bare.setup.fences,
                    .ids = ids,
                    .sources = {},
                    .groups = groups,
                    .network = net,
                    .user_namespace = lent.user_namespace,
                    .control = pair.two,
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
