// SPDX-License-Identifier: Apache-2.0
#include "monitor/foresee.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

#include "os/filter/judged_call.h"
#include "os/process_view.h"
#include "policy/glob.h"
#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

using frame::PathUse;

enum class Follow : bool { no, yes };

constexpr std::uint32_t kKindOfFile = 0170000;
constexpr std::uint32_t kDirectory = 0040000;
constexpr std::uint32_t kRegular = 0100000;
constexpr std::uint32_t kAnyExec = 0111;
constexpr std::uint32_t kUnnamedFile = 020000000;  // of O_TMPFILE, without O_DIRECTORY

// Where a path leads.
struct Target {
  bool exists = false;
  std::string path;    // without links; of one that does not exist, where it would be
  os::LookedAt about;  // of one that does not exist, its directory
  std::uint32_t kind() const { return exists ? about.mode & kKindOfFile : 0; }
};

std::string whole_of(const IntendedPath& path) {
  if (path.used.starts_with('/') || path.base.empty()) return path.used;
  return path.used.empty() ? path.base : path.base + "/" + path.used;
}

// The directory and the name in it.
std::pair<std::string, std::string> parted(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return {std::string{path.substr(0, slash + 1)}, std::string{path.substr(slash + 1)}};
}

class Foreseeing {
 public:
  explicit Foreseeing(const Ground& ground) : ground_{ground} {}

  // Nothing: what it leads to is not in the tree, has no path (a link of /proc's), or has no
  // directory, and then the kernel says so before any fence does.
  std::optional<Target> find(const IntendedPath& path, Follow follow) const {
    const std::string whole = whole_of(path);
    if (!whole.starts_with('/')) return std::nullopt;
    auto there = os::look_at(ground_.root, whole, follow == Follow::yes, ground_.mounts);
    if (there) return Target{.exists = true, .path = there->path, .about = *there};
    if (there.error().cause().value() != ENOENT) return std::nullopt;
    const auto [above, name] = parted(whole);
    auto directory = os::look_at(ground_.root, above, true, ground_.mounts);
    if (!directory) return std::nullopt;
    std::string place = directory->path + (directory->path.ends_with('/') ? "" : "/") + name;
    return Target{.exists = false, .path = std::move(place), .about = *std::move(directory)};
  }

  // A name goes from one mount to another by nobody's leave: the kernel says so before any fence.
  bool is_across_mounts(const IntendedPath& from, const IntendedPath& to) const {
    const auto one = os::look_at(ground_.root, parted(whole_of(from)).first, true, ground_.mounts);
    const auto two = os::look_at(ground_.root, parted(whole_of(to)).first, true, ground_.mounts);
    return one && two && one->mount != two->mount;
  }

  // The errno of the fence, or 0.
  int refusal_to_write(const Target& target) const {
    if (target.about.read_only) return EROFS;
    return is_granted(target.path, [](PathUse use) { return use == PathUse::all; }) ? 0 : EACCES;
  }
  int refusal_to_execute(const Target& target) const {
    if (target.about.no_exec) return EACCES;
    const auto executes = [](PathUse use) {
      return use == PathUse::all || use == PathUse::read_exec;
    };
    return is_granted(target.path, executes) ? 0 : EACCES;
  }

 private:
  template <class Serves>
  bool is_granted(const std::string& path, Serves serves) const {
    if (!ground_.has_landlock) return true;
    return std::ranges::any_of(ground_.rules, [&](const frame::PathRule& rule) {
      return serves(rule.use) && policy::below(path, rule.path).has_value();
    });
  }

  const Ground& ground_;
};

// Of what no fence refuses the outcome is not known: the file may be there because of this very
// call. What a fence refuses has changed nothing, and an error that comes before the fence shows.
int outcome_of_open(const Target& target, std::uint32_t flags, const Foreseeing& foreseeing) {
  if (!target.exists && (flags & std::uint32_t{O_CREAT}) == 0) return ENOENT;
  const bool is_unnamed = (flags & kUnnamedFile) != 0;
  if (target.kind() == kDirectory && !is_unnamed) return EISDIR;
  // What is no file of the disk's is written elsewhere.
  if (target.exists && target.kind() != kRegular && !is_unnamed) return 0;
  const int refusal = foreseeing.refusal_to_write(target);
  constexpr std::uint32_t kNew = O_CREAT | O_EXCL;
  const bool is_taken = target.exists && (flags & kNew) == kNew;
  return refusal != 0 && is_taken ? EEXIST : refusal;
}

// A call that makes its path, and one that needs it.
bool makes(std::string_view call) {
  return call.starts_with("mkdir") || call.starts_with("mknod") || call.starts_with("symlink");
}
bool follows(std::string_view call) {
  return call.starts_with("chmod") || call.starts_with("fchmodat") || call == "truncate" ||
         call == "chown";
}

int outcome_of_path(std::string_view call, const Target& target, const Foreseeing& foreseeing) {
  if (call.starts_with("link")) return target.exists ? 0 : ENOENT;
  const int refusal = foreseeing.refusal_to_write(target);
  if (refusal == 0) return 0;
  if (makes(call)) return target.exists ? EEXIST : refusal;
  return target.exists ? refusal : ENOENT;
}

int outcome_of_second(std::string_view call, const Target& target, const Foreseeing& foreseeing) {
  const int refusal = foreseeing.refusal_to_write(target);
  return refusal != 0 && target.exists && call.starts_with("link") ? EEXIST : refusal;
}

Follow follow_of(const Intent& intent, std::string_view call) {
  if (intent.of == CallKind::Of::exec) return Follow::yes;
  if (intent.of == CallKind::Of::path) return follows(call) ? Follow::yes : Follow::no;
  const bool stays = (intent.flags & std::uint32_t{O_NOFOLLOW}) != 0 ||
                     (intent.flags & std::uint32_t{O_EXCL}) != 0;
  return stays ? Follow::no : Follow::yes;
}

int outcome_of(const Intent& intent, std::string_view call, const Target& target,
               const Foreseeing& foreseeing) {
  switch (intent.of) {
    case CallKind::Of::open:
      return outcome_of_open(target, intent.flags, foreseeing);
    case CallKind::Of::exec:
      if (!target.exists) return ENOENT;
      if (target.kind() != kRegular || (target.about.mode & kAnyExec) == 0) return ENOEXEC;
      return foreseeing.refusal_to_execute(target);
    case CallKind::Of::path:
    case CallKind::Of::connect:
      break;
  }
  return outcome_of_path(call, target, foreseeing);
}

}  // namespace

std::optional<Seen> foresee(const Intent& intent, const Ground& ground) {
  Seen seen{.pid = intent.pid,
            .parent = intent.parent,
            .command = intent.command,
            .call = intent.call,
            .arguments = intent.arguments,
            .what = SeenCall{}};
  if (intent.of == CallKind::Of::connect) {
    seen.what = connect_of(intent.address);
    return seen;
  }
  const Foreseeing foreseeing{ground};
  const std::string_view call = os::call_name(intent.call);
  const auto target = foreseeing.find(intent.path, follow_of(intent, call));
  if (!target) return std::nullopt;
  seen.result = -outcome_of(intent, call, *target, foreseeing);
  if (intent.of == CallKind::Of::exec && seen.result == 0) {
    seen.what = SeenExec{
        .program = intent.path.used, .arguments = intent.texts, .directory = intent.directory};
    return seen;
  }
  SeenFile file{.used = intent.path.used,
                .resolved = target->path,
                .flags = intent.flags,
                .is_opened = intent.of == CallKind::Of::open};
  if (intent.second && seen.result != -ENOENT) {
    const auto second = foreseeing.find(*intent.second, Follow::no);
    if (!second) return std::nullopt;
    file.second = intent.second->used;
    file.second_resolved = second->path;
    if (seen.result == 0) seen.result = -outcome_of_second(call, *second, foreseeing);
    if (seen.result != 0 && foreseeing.is_across_mounts(intent.path, *intent.second)) {
      seen.result = -EXDEV;
    }
  }
  seen.what = std::move(file);
  return seen;
}

}  // namespace cordon::monitor
