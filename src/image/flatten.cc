// SPDX-License-Identifier: Apache-2.0
#include "image/flatten.h"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <string>
#include <vector>

#include "os/directory.h"
#include "os/file.h"
#include "os/file_status.h"

namespace cordon::image {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::size_t kMostInDirectory = 1'000'000;
constexpr int kDeepest = 300;  // cordon-unpack takes no path as deep

Result<os::Fd> open_directory(const os::Fd& above, const std::string& name) {
  return os::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

// With all that it holds; nothing is there, and that is well too. Links are removed, not followed.
Status remove(const os::Fd& above, const std::string& name) {
  const Status gone = os::unlinkat(above, name.c_str());
  if (gone || gone.error().code() == Errc::not_found) return {};
  TRY(const os::Fd directory, open_directory(above, name));
  TRY(const auto inside, os::list_directory(directory, kMostInDirectory));
  for (const std::string& each : inside) TRY_DO(remove(directory, each));
  return os::rmdirat(above, name.c_str());
}

// The name that a whiteout takes away; nothing: it is none, or would take more than an entry.
std::optional<std::string> taken_away(const std::string& name) {
  if (!name.starts_with(kWhiteout) || name == kOpaque) return std::nullopt;
  std::string gone = name.substr(kWhiteout.size());
  if (gone.empty() || gone == "." || gone == "..") return std::nullopt;
  return gone;
}

class Flattening {
 public:
  explicit Flattening(Owners owners) : owners_{owners} {}

  Status join(const os::Fd& below, const os::Fd& over, int depth);

 private:
  Status join_directory(const os::Fd& below, const os::Fd& over, const std::string& name,
                        int depth);
  Status copy_attributes(const os::Fd& from, const os::Fd& to) const;

  Owners owners_;
};

Status Flattening::copy_attributes(const os::Fd& from, const os::Fd& to) const {
  TRY(const os::FileStatus about, os::statx(from));
  if (owners_ == Owners::kept) TRY_DO(os::fchown(to, about.uid, about.gid));
  TRY_DO(os::fchmod(to, about.mode));
  return os::set_modified(to,
                          static_cast<std::uint64_t>(about.modified.time_since_epoch().count()));
}

Status Flattening::join_directory(const os::Fd& below, const os::Fd& over, const std::string& name,
                                  int depth) {
  auto there = open_directory(below, name);
  if (!there) {
    TRY_DO(remove(below, name));
    TRY_DO(os::mkdirat(below, name.c_str(), 0700));
    TRY(there, open_directory(below, name));
  }
  TRY(const os::Fd from, open_directory(over, name));
  return join(*there, from, depth + 1);
}

Status Flattening::join(const os::Fd& below, const os::Fd& over, int depth) {
  if (depth > kDeepest) return Error{Errc::invalid, "a tree that is too deep"};
  TRY(std::vector<std::string> names, os::list_directory(over, kMostInDirectory));
  // What is taken away is that of the layers below, whatever this layer has beside it.
  if (std::ranges::find(names, kOpaque) != names.end()) {
    TRY(const auto old, os::list_directory(below, kMostInDirectory));
    for (const std::string& each : old) TRY_DO(remove(below, each));
  }
  for (const std::string& each : names) {
    if (const auto gone = taken_away(each)) TRY_DO(remove(below, *gone));
  }
  for (const std::string& each : names) {
    if (each.starts_with(kWhiteout)) continue;
    TRY(const os::FileStatus about, os::statx(over, each.c_str()));
    if (about.type == os::FileType::directory) {
      TRY_DO(join_directory(below, over, each, depth));
      continue;
    }
    TRY_DO(remove(below, each));
    TRY_DO(os::linkat(over, each.c_str(), below, each.c_str()));
  }
  return copy_attributes(over, below);
}

}  // namespace

Status put_over(const os::Fd& root, const os::Fd& layer, Owners owners) {
  TRY(const os::Fd below, open_directory(root, "."));
  TRY(const os::Fd over, open_directory(layer, "."));
  return Flattening{owners}.join(below, over, 0);
}

Status make_mount_points(const os::Fd& root) {
  const auto etc = open_directory(root, "etc");
  if (!etc) return {};
  for (const char* name : {"resolv.conf", "hosts", "nsswitch.conf", "cordon-authorities.pem"}) {
    const auto about = os::statx(*etc, name);
    if (about && about->type == os::FileType::regular) continue;
    TRY_DO(remove(*etc, name));
    TRY_DO(os::create_file(*etc, name, "", 0644));
  }
  return {};
}

}  // namespace cordon::image
