// SPDX-License-Identifier: Apache-2.0
#include "guest/watch_tree.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <climits>

#include "guest/directory.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr int kDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW;

std::string joined(const std::string& path, std::string_view name) {
  if (path.empty()) return std::string{name};
  return name.empty() ? path : path + "/" + std::string{name};
}

bool is_below(std::string_view path, std::string_view top) {
  return path == top || (path.starts_with(top) && path.substr(top.size()).starts_with('/'));
}

}  // namespace

WatchTree::WatchTree(Opener open, os::Fd inotify, bool recursive)
    : open_{std::move(open)}, inotify_{std::move(inotify)}, recursive_{recursive} {}

Result<WatchTree> WatchTree::create(Opener open, bool recursive) {
  os::Fd inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (!inotify) return Error::from_errno("inotify_init1");
  WatchTree tree{std::move(open), std::move(inotify), recursive};
  {
    TRY(const os::Fd root, tree.open_());
    struct stat facts{};
    if (::fstat(root.get(), &facts) != 0) return Error::from_errno("fstat");
    tree.device_ = facts.st_dev;
    tree.inode_ = facts.st_ino;
    TRY_DO(tree.add(root, {}));
  }
  if (recursive) tree.add_all({}, nullptr);
  return tree;
}

Result<os::Fd> WatchTree::open_root() const {
  TRY(os::Fd root, open_());
  struct stat facts{};
  if (::fstat(root.get(), &facts) != 0) return Error::from_errno("fstat");
  if (facts.st_dev != device_ || facts.st_ino != inode_) return Error::from_errno("root", ESTALE);
  return root;
}

// By what is open and not by a path, which could be another one by now.
Status WatchTree::add(const os::Fd& directory, const std::string& path) {
  if (paths_.size() >= frame::kMostWatchedDirectories) return Error::from_errno("watches", ENOSPC);
  const int watch = ::inotify_add_watch(inotify_.get(), os::proc_path(directory).c_str(), kEvents);
  if (watch < 0) return Error::from_errno("inotify_add_watch");
  paths_.insert_or_assign(watch, path);
  return {};
}

Result<os::Fd> WatchTree::find(const std::string& path) const {
  TRY(os::Fd found, open_root());
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    TRY(found, os::openat(found, path.substr(begin, end - begin).c_str(), kDirectory));
    begin = end + 1;
  }
  return found;
}

void WatchTree::add_all(const std::string& path, frame::WatchEvents* made) {
  std::vector<std::string> left{path};
  while (!left.empty()) {
    const std::string next = std::move(left.back());
    left.pop_back();
    const auto directory = find(next);
    if (!directory) {  // it went away meanwhile, or is none; or what is watched is not there now
      lost_ = lost_ || directory.error().cause().value() == ESTALE;
    } else if (!next.empty() && !add(*directory, next)) {
      lost_ = true;
    } else {
      look_into(*directory, next, made, left);
    }
  }
}

void WatchTree::look_into(const os::Fd& directory, const std::string& path,
                          frame::WatchEvents* made, std::vector<std::string>& left) {
  const auto readable = os::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (!readable) return;  // not for us to see
  const auto names = names_in(*readable);
  if (!names) return;
  for (const std::string& name : *names) {
    const auto entry = describe(directory, name);
    if (!entry) continue;
    const bool is_directory = entry->type == frame::FileType::directory;
    if (made != nullptr) {
      made->events.push_back(
          {.kind = frame::WatchKind::made, .name = joined(path, name), .directory = is_directory});
    }
    if (!is_directory) continue;
    if (paths_.size() + left.size() >= frame::kMostWatchedDirectories) {
      lost_ = true;
    } else {
      left.push_back(joined(path, name));
    }
  }
}

void WatchTree::drop_all(const std::string& path) {
  std::erase_if(paths_, [&](const auto& entry) {
    if (!is_below(entry.second, path)) return false;
    static_cast<void>(::inotify_rm_watch(inotify_.get(), entry.first));
    return true;
  });
}

// False: the root is gone.
bool WatchTree::take(const inotify_event& event, std::string_view name, frame::WatchEvents& into) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    into.lost = true;
    return true;
  }
  const auto watched = paths_.find(event.wd);
  if (watched == paths_.end()) return true;  // no longer ours
  const bool is_root = watched->second.empty();
  if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0) return !is_root;
  if ((event.mask & IN_IGNORED) != 0) {
    paths_.erase(watched);
    return !is_root;
  }
  const std::string path = joined(watched->second, name);
  const bool is_directory = (event.mask & IN_ISDIR) != 0;
  // A directory below tells of itself what the one above tells of it too.
  if (name.empty() && !is_root) return true;
  const auto tell = [&](std::uint32_t mask, frame::WatchKind kind) {
    if ((event.mask & mask) == 0) return;
    into.events.push_back(
        {.kind = kind, .name = path, .directory = is_directory, .move = event.cookie});
  };
  tell(IN_CREATE, frame::WatchKind::made);
  tell(IN_MODIFY, frame::WatchKind::changed);
  tell(IN_ATTRIB, frame::WatchKind::attributes);
  tell(IN_DELETE, frame::WatchKind::removed);
  tell(IN_MOVED_FROM, frame::WatchKind::moved_away);
  tell(IN_MOVED_TO, frame::WatchKind::moved_here);
  if (!recursive_ || !is_directory || name.empty()) return true;
  if ((event.mask & IN_MOVED_FROM) != 0) drop_all(path);
  if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    add_all(path, (event.mask & IN_CREATE) != 0 ? &into : nullptr);
  }
  return true;
}

Result<bool> WatchTree::read(frame::WatchEvents& into) {
  alignas(inotify_event) std::array<char, std::size_t{16} << 10U> buffer;  // NOLINT(*-member-init)
  const ssize_t count = ::read(inotify_.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count < 0) return Error::from_errno("read");
  bool there = true;
  for (std::size_t at = 0; there && at < static_cast<std::size_t>(count);) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const char* const text = buffer.data() + at + sizeof event;
    there = take(event, {text, ::strnlen(text, event.len)}, into);
    at += sizeof event + event.len;
  }
  into.lost = std::exchange(lost_, false) || into.lost;
  return there;
}

}  // namespace cordon::guest
