// SPDX-License-Identifier: Apache-2.0
// Flattens while it deletes: a directory inside a directory is moved up to the top, so that no path
// is ever longer than one name and no descriptor is kept for the way back.
#include "review/remove_tree.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "base/id.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/random.h"
#include "review/printable.h"

namespace cordon::review {
namespace {

// Names are read in portions: a million at a time bounds the memory, and a second look at a
// directory that has been emptied is cheap.
constexpr std::size_t kPortion = std::size_t{1} << 20U;

bool failed_with(const Status& status, int number) {
  return !status && status.error().cause().value() == number;
}

// Absence is what we wanted.
Status unless_absent(Status status) {
  if (failed_with(status, ENOENT)) return {};
  return status;
}

// Opens a directory for reading, whatever its mode was. Before: it is to be removed.
Result<os::Fd> open_any_mode(const os::Fd& parent, const char* name) {
  TRY(const os::Fd node, os::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  TRY_DO(os::fchmod(node, 0700));
  return os::openat(node, ".", O_RDONLY | O_DIRECTORY);
}

class Remover {
 public:
  Remover(os::Fd top, std::string tag) : top_{std::move(top)}, tag_{std::move(tag)} {}

  Status empty_top() {
    while (true) {
      TRY(const auto names, os::list_some(top_, kPortion));
      if (names.empty()) return {};
      for (const std::string& name : names) {
        auto done = is_ours(name) ? remove_hoisted(name) : remove_or_hoist(top_, name);
        if (!done) return std::move(done).error();
      }
    }
  }

 private:
  // Nobody else can have made a name with the tag: it is random and new.
  bool is_ours(const std::string& name) const { return name.starts_with(tag_); }

  // One entry: gone afterwards, or a directory at the top under a name of ours.
  Status remove_or_hoist(const os::Fd& dir, const std::string& name) {
    auto done = os::unlinkat(dir, name.c_str());
    if (!failed_with(done, EISDIR)) return told(unless_absent(std::move(done)), name);
    done = os::rmdirat(dir, name.c_str());
    if (!failed_with(done, ENOTEMPTY)) return told(unless_absent(std::move(done)), name);
    return told(hoist(dir, name), name);
  }

  Status hoist(const os::Fd& dir, const std::string& name) {
    // A directory that changes its parent must be writable: its `..` changes.
    auto node = os::openat(dir, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!node) return unless_absent(std::move(node).error());
    TRY_DO(os::fchmod(*node, 0700));
    // A mount cannot be moved this way (EBUSY, EXDEV), so none is ever entered.
    const std::string up = tag_ + std::to_string(++hoisted_);
    return unless_absent(os::renameat(dir, name.c_str(), top_, up.c_str(), os::Replace::refuse));
  }

  Status remove_hoisted(const std::string& name) {
    auto dir = open_any_mode(top_, name.c_str());
    if (!dir) return unless_absent(std::move(dir).error());
    while (true) {
      TRY(const auto names, os::list_some(*dir, kPortion));
      if (names.empty()) break;
      for (const std::string& inner : names) {
        TRY_DO(remove_or_hoist(*dir, inner));
      }
    }
    return unless_absent(os::rmdirat(top_, name.c_str()));
  }

  static Status told(Status status, const std::string& name) {
    if (status) return status;
    return std::move(status).error().with("remove " + printable(name));
  }

  os::Fd top_;
  std::string tag_;
  std::size_t hoisted_ = 0;
};

}  // namespace

Status remove_tree(const os::Fd& parent, const char* name) {
  const Status simple = os::unlinkat(parent, name);
  if (simple || failed_with(simple, ENOENT)) return {};
  TRY(os::Fd top, open_any_mode(parent, name));
  TRY(const auto random, os::random_bytes<10>());
  Remover remover{std::move(top), ".cordon-gone-" + base32(random) + "-"};
  TRY_DO(remover.empty_top());
  return unless_absent(os::rmdirat(parent, name));
}

}  // namespace cordon::review
