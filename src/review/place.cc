// SPDX-License-Identifier: Apache-2.0
// Each new thing is made under a name that nobody knows and moved into its place.
#include "review/place.h"

#include <ranges>

#include "base/id.h"
#include "os/copy_file.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/openat2.h"
#include "os/random.h"
#include "review/remove_tree.h"
#include "review/tree_entry.h"

namespace cordon::review {
namespace {

constexpr std::uint32_t kPermissions = 0777;

// A name in a directory that is removed again unless it was moved into place.
class Temporary {
 public:
  static Result<Temporary> pick(const os::Fd& dir) {
    TRY(const auto random, os::random_bytes<10>());
    return Temporary{dir, ".cordon-apply-" + base32(random)};
  }
  Temporary(Temporary&& other) noexcept
      : dir_{other.dir_}, name_{std::exchange(other.name_, std::string{})} {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (name_.empty()) return;
    const Status ignored = remove_tree(dir_, name_.c_str());
  }

  const char* name() const noexcept { return name_.c_str(); }
  void moved() noexcept { name_.clear(); }
  // The same as the destructor, for callers that want to know.
  Status remove() && { return remove_tree(dir_, std::exchange(name_, std::string{}).c_str()); }

 private:
  Temporary(const os::Fd& dir, std::string name) : dir_{dir}, name_{std::move(name)} {}
  const os::Fd& dir_;
  std::string name_;
};

Error changed_meanwhile() {
  return Error{Errc::unavailable, "changed in the workspace while it was being applied"};
}

// A directory's time moves with what we put into it, a file's only by another's hand.
bool is_as_seen(const os::FileStatus& now, const os::FileStatus& seen) {
  const bool same_file = now.device == seen.device && now.inode == seen.inode;
  return same_file && now.type == seen.type &&
         (now.type == os::FileType::directory || now.changed == seen.changed);
}

Status require_as_seen(const Change& change, const Place& place) {
  TRY(const auto now, find_entry(place.dir, place.name));
  if (now.has_value() != change.lower.has_value()) return changed_meanwhile();
  if (now && change.lower && !is_as_seen(now->status, *change.lower)) return changed_meanwhile();
  return {};
}

// Takes an entry away; a directory leaves its name at once, whatever its removal takes.
Status take_away(const Place& place, os::FileType type) {
  if (type != os::FileType::directory) return os::unlinkat(place.dir, place.name.c_str());
  TRY(Temporary aside, Temporary::pick(place.dir));
  TRY_DO(os::renameat(place.dir, place.name.c_str(), place.dir, aside.name(), os::Replace::refuse));
  return std::move(aside).remove();
}

// Moves `made` to its name. A file replaces a file in one step; between a directory and another
// kind there is no such step, so the old one goes aside first and comes back on failure.
Status move_in(Temporary& made, const Place& place, const Change& change) {
  const char* const name = place.name.c_str();
  const bool directory = change.type == os::FileType::directory ||
                         (change.lower && change.lower->type == os::FileType::directory);
  if (!change.lower || !directory) {
    const auto replace = change.lower ? os::Replace::allow : os::Replace::refuse;
    TRY_DO(os::renameat(place.dir, made.name(), place.dir, name, replace));
    made.moved();
    return {};
  }
  TRY(Temporary aside, Temporary::pick(place.dir));
  TRY_DO(os::renameat(place.dir, name, place.dir, aside.name(), os::Replace::refuse));
  auto done = os::renameat(place.dir, made.name(), place.dir, name, os::Replace::refuse);
  if (!done) {
    const auto back = os::renameat(place.dir, aside.name(), place.dir, name, os::Replace::refuse);
    if (back) aside.moved();
    return done;
  }
  made.moved();
  return std::move(aside).remove();
}

}  // namespace

Result<Place> open_place(const os::Fd& root, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Error{Errc::invalid, "not the path of an entry"};
  }
  TRY(os::Fd dir,
      os::open_beneath(root, parent.c_str(),
                       {.flags = O_RDONLY | O_DIRECTORY, .symlinks = os::Symlinks::refused}));
  return Place{.dir = std::move(dir), .name = std::move(name)};
}

Status Placer::put(const Change& change) {
  TRY(const Place place, open_place(workspace_, change.path));
  TRY_DO(require_as_seen(change, place));
  if (change.kind == ChangeKind::deleted) return take_away(place, change.type);
  if (change.kind == ChangeKind::mode_changed) return change_mode(change, place);
  switch (change.type) {
    case os::FileType::regular:
      return put_file(change, place);
    case os::FileType::symlink:
      return put_link(change, place);
    case os::FileType::directory:
      return put_directory(change, place);
    default:
      return Error{Errc::denied, "a " + std::string{to_string(change.type)} + " is never applied"};
  }
}

std::vector<NotApplied> Placer::finish() {
  std::vector<NotApplied> failed;
  // What lies deeper first: a directory that is shut cannot be passed.
  for (const Mode& final : std::views::reverse(modes_)) {
    const auto dir =
        os::open_beneath(workspace_, final.path.c_str(),
                         {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused});
    const Status done = dir ? os::fchmod(*dir, final.mode) : Status{Error{dir.error()}};
    if (!done) failed.push_back({.path = final.path, .reason = "mode: " + done.error().text()});
  }
  modes_.clear();
  return failed;
}

Status Placer::put_file(const Change& change, const Place& place) {
  TRY(const Place source, open_place(upper_, change.path));
  TRY(const auto entry, find_entry(source.dir, source.name));
  if (!entry || entry->status.type != os::FileType::regular) {
    return Error{Errc::internal, "no longer a file in the run's directory"};
  }
  TRY(const os::Fd from, open_contents(*entry));
  TRY(Temporary made, Temporary::pick(place.dir));
  TRY(const os::Fd to,
      os::openat(place.dir, made.name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  TRY_DO(os::copy_contents(from, to));
  TRY_DO(give(to));
  TRY_DO(os::fchmod(to, change.mode & kPermissions));
  return move_in(made, place, change);
}

Status Placer::put_link(const Change& change, const Place& place) {
  TRY(Temporary made, Temporary::pick(place.dir));
  TRY_DO(os::symlinkat(change.target.c_str(), place.dir, made.name()));
  if (owner_) TRY_DO(os::fchownat(place.dir, made.name(), owner_->uid, owner_->gid));
  return move_in(made, place, change);
}

Status Placer::put_directory(const Change& change, const Place& place) {
  TRY(Temporary made, Temporary::pick(place.dir));
  TRY_DO(os::mkdirat(place.dir, made.name(), 0700));
  TRY(const os::Fd dir, os::openat(place.dir, made.name(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY_DO(give(dir));
  TRY_DO(move_in(made, place, change));
  modes_.push_back({change.path, change.mode & kPermissions});
  return {};
}

Status Placer::change_mode(const Change& change, const Place& place) {
  TRY(const auto entry, find_entry(place.dir, place.name));
  // The descriptor is what is changed, so it must be the file that was compared.
  if (!entry || !change.lower || !is_as_seen(entry->status, *change.lower)) {
    return changed_meanwhile();
  }
  if (change.type != os::FileType::directory) {
    return os::fchmod(entry->node, change.mode & kPermissions);
  }
  // The special bits that the user gave his own directory stay.
  const std::uint32_t mode =
      (change.mode & kPermissions) | (entry->status.mode & ~kPermissions & 07777U);
  TRY_DO(os::fchmod(entry->node, mode | 0700U));
  modes_.push_back({change.path, mode});
  return {};
}

Status Placer::give(const os::Fd& fd) const {
  if (!owner_) return {};
  return os::fchown(fd, owner_->uid, owner_->gid);
}

}  // namespace cordon::review
