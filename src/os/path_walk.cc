// SPDX-License-Identifier: Apache-2.0
#include "os/path_walk.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "os/directory.h"
#include "os/file.h"

namespace cordon::os {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

class Walk {
 public:
  Walk(const Fd& root, const OpenHow& how) : root_{root}, how_{how} {}

  Result<Fd> to(std::string_view path) {
    if (path.empty()) return Error::from_errno("openat", ENOENT);
    TRY_DO(put_before(path));
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      if (name == "..") {
        if (way_.empty()) return Error::from_errno("openat", EXDEV);
        way_.pop_back();
      } else if (rest_.empty()) {
        TRY(auto last, open_last(name));
        if (last) return *std::move(last);
      } else {
        TRY_DO(enter(name));
      }
    }
    return openat(here(), ".", how_.flags | O_CLOEXEC, how_.mode);
  }

 private:
  const Fd& here() const { return way_.empty() ? root_ : way_.back(); }

  // A path in front of what is left; a slash at its end asks for a directory.
  Status put_before(std::string_view path) {
    if (path.starts_with('/')) return Error::from_errno("openat", EXDEV);
    if (path.ends_with('/') && rest_.empty()) wants_directory_ = true;
    std::vector<std::string> names;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('/'), path.size());
      const std::string_view name = path.substr(0, end);
      if (!name.empty() && name != ".") names.emplace_back(name);
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    rest_.insert(rest_.begin(), names.begin(), names.end());
    return {};
  }

  Status follow(const Fd& link) {
    if (how_.symlinks == Symlinks::refused || ++links_ > kMostLinks) {
      return Error::from_errno("openat", ELOOP);
    }
    TRY(const std::string text, os::readlinkat(link, ""));
    if (text.empty()) return Error::from_errno("openat", ENOENT);
    return put_before(text);
  }

  static Result<bool> is_link(const Fd& fd) {
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return Error::from_errno("fstat");
    return S_ISLNK(facts.st_mode);
  }

  Status enter(const std::string& name) {
    TRY(Fd next, openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    TRY(const bool link, is_link(next));
    if (link) return follow(next);
    // What is no directory has nothing below it.
    TRY(Fd directory, openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
    way_.push_back(std::move(directory));
    return {};
  }

  // Nothing: it was a link, and the way goes on.
  Result<std::optional<Fd>> open_last(const std::string& name) {
    const auto probe = openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (probe) {
      TRY(const bool link, is_link(*probe));
      const bool as_itself = link && (how_.flags & O_NOFOLLOW) != 0 && !wants_directory_;
      if (link && !as_itself) {
        if ((how_.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
          return Error::from_errno("openat", EEXIST);
        }
        TRY_DO(follow(*probe));
        return std::optional<Fd>{};
      }
    }
    const int directory = wants_directory_ && (how_.flags & O_CREAT) == 0 ? O_DIRECTORY : 0;
    // A link that came meanwhile is refused, not followed.
    TRY(Fd opened,
        openat(here(), name.c_str(), how_.flags | O_NOFOLLOW | O_CLOEXEC | directory, how_.mode));
    return std::optional{std::move(opened)};
  }

  const Fd& root_;
  const OpenHow& how_;
  std::vector<Fd> way_;
  std::deque<std::string> rest_;
  bool wants_directory_ = false;
  int links_ = 0;
};

}  // namespace

Result<Fd> walk_beneath(const Fd& root, const char* path, const OpenHow& how) {
  auto opened = Walk{root, how}.to(path);
  if (!opened) return std::move(opened).error().with(path);
  return opened;
}

}  // namespace cordon::os
