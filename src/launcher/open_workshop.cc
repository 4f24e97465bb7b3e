// SPDX-License-Identifier: Apache-2.0
#include "launcher/open_workshop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/group_reclaim.h"
#include "os/file.h"
#include "os/landlock.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/own_directory.h"
#include "os/pidfd.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

// Only root writes there, and a link that somebody put in its place is not followed.
Result<os::Fd> open_locks() {
  if (::mkdir(kLocks, 0700) != 0 && errno != EEXIST) return Error::from_errno("mkdir").with(kLocks);
  TRY(os::Fd dir, os::openat(os::at_cwd(), kLocks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat st{};
  if (::fstat(dir.get(), &st) != 0) return Error::from_errno("fstat").with(kLocks);
  if (st.st_uid != 0 || (st.st_mode & 022U) != 0) {
    return Error{Errc::denied, std::string{kLocks} + " belongs to somebody else: remove it"};
  }
  return dir;
}

// The ids of the second lines of our maps, which the node wrote.
Result<std::uint32_t> first_spare(const char* map, std::uint32_t own) {
  TRY(const std::string text, os::read_file(os::at_cwd(), map));
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long inside = std::strtoul(at, &end, 10);
    if (end == at) break;
    if (inside != own) return static_cast<std::uint32_t>(inside);
    at = end;
    while (*at != '\0' && *at != '\n') ++at;
    if (*at == '\n') ++at;
  }
  return Error{Errc::not_found, "no spare id is mapped"};
}

Result<OwnIds> enter_own_namespace(const os::Fd& node) {
  OwnIds own{.uid = ::geteuid(), .gid = ::getegid()};
  TRY_DO(os::unshare(os::Ns::user));
  std::array<std::byte, 1> word{};
  TRY(const std::size_t sent, os::send(node, word));
  TRY(const os::Received got, os::receive(node, word));
  if (sent != 1 || got.bytes != 1) return Error{Errc::unavailable, "the caller wrote no id maps"};
  if (word[0] == frame::kMapsHaveSpare) {
    TRY(own.spare_uid, first_spare("/proc/self/uid_map", own.uid));
    TRY(own.spare_gid, first_spare("/proc/self/gid_map", own.gid));
  } else {
    own.may_set_groups = false;
  }
  return own;
}

struct Ahead {
  unsigned networks = 1;
  unsigned groups = 0;  // in local use one is made when it is wanted: no sooner is it known
  unsigned sandboxes = 0;
  unsigned engines = 0;
  bool refill = false;
};

struct Places {
  std::string cgroup;   // below our own; empty: our own
  std::string secrets;  // of the stores; empty: there are none
  SecretSources sources;
  std::string notary;       // of its files; empty: there is none
  std::string image_store;  // that is added to; empty: none is
};

Result<Workshop> open(Floor floor, const OwnIds& own, os::Fd locks, const Places& places,
                      const Ahead& ahead) {
  RangeLender ranges{floor, std::move(locks), std::max(ahead.groups, 1U), ahead.refill};
  TRY(NetPool networks, NetPool::start(NetKind::bare, ahead.networks, ahead.refill));
  TRY_DO(os::unshare(os::Ns::mount));
  TRY_DO(os::set_propagation(os::at_cwd(), "/", os::Propagation::slave));
  TRY(os::CgroupTrees trees, os::read_cgroup_trees());
  if (places.cgroup.empty()) {
    place_groups(trees);
  } else {
    TRY_DO(place_groups_below(trees, places.cgroup));
  }
  reclaim_groups(trees);
  TRY(FloorSources sources, FloorSources::open(floor.sources));
  TRY(Program program, Program::open());
  TRY(os::Fd self, os::pidfd_open(::getpid()));
  Home home;
  int landlock_abi = 0;
  if (ahead.sandboxes > 0) {
    TRY(home.mount, os::open_ns(os::Ns::mount));
    TRY(home.uts, os::open_ns(os::Ns::uts));
    // A guess at what plans will ask for: a berth that was made for another ABI is not used.
    if (const auto found = os::landlock_abi()) landlock_abi = *found;
  }
  os::Fd secrets;
  if (!places.secrets.empty()) {
    TRY(secrets, os::open_own_directory(places.secrets));
  }
  os::Fd notary;
  if (!places.notary.empty()) {
    TRY(notary, os::open_own_directory(places.notary));
  }
  auto egresses = std::make_unique<Egresses>(std::move(secrets), places.sources);
  GroupPool groups{std::make_shared<const GroupTrees>(GroupTrees::open(trees)), ahead.groups};
  Pins pins{floor.pins};
  return Workshop{.floor = std::move(floor),
                  .sources = std::move(sources),
                  .pins = std::move(pins),
                  .roots = {},
                  .own = own,
                  .ranges = std::move(ranges),
                  .self = std::move(self),
                  .program = std::move(program),
                  .networks = std::move(networks),
                  .steered = {},
                  .egresses = std::move(egresses),
                  .notary = NotaryKeeper{std::move(notary)},
                  .images = ImageKeeper{places.image_store},
                  .trees = std::move(trees),
                  .groups = std::move(groups),
                  .berths = BerthPool{ahead.sandboxes, landlock_abi},
                  .spares = Spares{ahead.engines},
                  .home = std::move(home)};
}

}  // namespace

Result<Workshop> open_workshop(const os::Fd& node) {
  Floor floor{.sources = {"/"},
              .runsc = frame::kLocalRunsc,
              .qemu = frame::kLocalQemu,
              .saves_machines = true,
              .witnesses = true};
  // The caller's own choice, with the caller's own rights.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (const char* runsc = std::getenv(frame::kRunscVariable); runsc != nullptr) floor.runsc = runsc;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (const char* qemu = std::getenv(frame::kQemuVariable); qemu != nullptr) floor.qemu = qemu;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (const char* machine = std::getenv(frame::kMachineVariable); machine != nullptr) {
    floor.machine = machine;
  }
  OwnIds own;
  os::Fd locks;
  if (::geteuid() == 0) {
    floor.first_id = kFirstId;
    floor.ranges = kRanges;
    floor.disk_images = true;
    TRY(locks, open_locks());
  } else {
    floor.caller_ids = true;
    TRY(own, enter_own_namespace(node));
  }
  return open(std::move(floor), own, std::move(locks), {}, {});
}

Result<Workshop> open_workshop(const ServiceFloor& service) {
  if (::geteuid() != 0) return Error{Errc::denied, "only root can be a service"};
  // It keeps nobody's directory busy, and comes back to this one from a berth.
  if (::chdir("/") != 0) return Error::from_errno("chdir");
  TRY(os::Fd locks, open_locks());
  return open(service.floor, {}, std::move(locks),
              {service.cgroup, service.secrets, service.secret_sources, service.notary,
               service.image_store},
              {.networks = service.networks_ahead,
               .groups = service.groups_ahead,
               .sandboxes = service.sandboxes_ahead,
               .engines = service.engines_ahead,
               .refill = true});
}

}  // namespace cordon::launcher
