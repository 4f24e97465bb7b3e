// SPDX-License-Identifier: Apache-2.0
#include "image/tree_writer.h"

#include <cerrno>
#include <fcntl.h>
#include <ranges>
#include <unistd.h>

#include "os/directory.h"
#include "os/file.h"
#include "os/openat2.h"

namespace cordon::image {
namespace {

constexpr std::uint32_t kNewDirectory = 0755;
constexpr std::uint32_t kOwnersAll = 0700;
constexpr std::uint32_t kOwnersFile = 0600;

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<os::Fd> directory_at(const os::Fd& top, const std::string& path) {
  return os::open_beneath(top, path.c_str(),
                          {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused});
}

}  // namespace

Result<os::Fd> TreeWriter::parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  auto found = directory_at(top_, parent);
  if (found || found.error().cause().value() != ENOENT) return found;
  // One by one from the top: each is there then, and a directory.
  for (std::size_t end = parent.find('/');; end = parent.find('/', end + 1)) {
    const std::string each = parent.substr(0, end);
    const std::size_t last = each.rfind('/');
    TRY(const os::Fd above,
        directory_at(top_, last == std::string::npos ? "." : each.substr(0, last)));
    const Status made = os::mkdirat(above, name_of(each).c_str(), kNewDirectory);
    if (!made && made.error().code() != Errc::exists) return made.error();
    if (end == std::string::npos) break;
  }
  return directory_at(top_, parent);
}

Status TreeWriter::make(const frame::ArchiveEntry& entry) {
  switch (entry.type) {
    case frame::ArchiveType::file:
      return make_file(entry);
    case frame::ArchiveType::directory:
      return make_directory(entry);
    case frame::ArchiveType::link:
      return make_link(entry);
    case frame::ArchiveType::hard_link:
      return make_hard_link(entry);
  }
  return Error{Errc::invalid, "an entry of no type"};
}

Status TreeWriter::take(const frame::ArchiveEntry& entry) {
  TRY_DO(end_file());
  Status made = make(entry);
  if (!made) return std::move(made).error().with(entry.path);
  return {};
}

Status TreeWriter::take(const frame::ArchiveData& data) {
  if (!file_) return Error{Errc::invalid, "data of no file"};
  std::string_view left = data.bytes;
  auto at = static_cast<off_t>(data.offset);
  while (!left.empty()) {
    const ssize_t count = ::pwrite(file_.get(), left.data(), left.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("pwrite").with(at_.path);
    at += count;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Status TreeWriter::make_file(const frame::ArchiveEntry& entry) {
  TRY(const os::Fd parent, parent_of(entry.path));
  TRY(file_, os::openat(parent, name_of(entry.path).c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, kOwnersFile));
  at_ = entry;
  return {};
}

Status TreeWriter::end_file() {
  if (!file_) return {};
  const os::Fd file = std::exchange(file_, os::Fd{});
  const frame::ArchiveEntry entry = std::exchange(at_, {});
  // What comes behind the last piece is zeros. A size of nothing may be one that was not known.
  if (entry.size != 0 && ::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0) {
    return Error::from_errno("ftruncate").with(entry.path);
  }
  if (owners_ == Owners::kept) TRY_DO(os::fchown(file, entry.uid, entry.gid));
  TRY_DO(os::fchmod(file, owners_ == Owners::kept ? entry.mode : entry.mode | kOwnersFile));
  return os::set_modified(file, entry.modified);
}

Status TreeWriter::make_directory(const frame::ArchiveEntry& entry) {
  if (entry.path != ".") {
    TRY(const os::Fd parent, parent_of(entry.path));
    Status made = os::mkdirat(parent, name_of(entry.path).c_str(), kNewDirectory);
    if (!made && made.error().code() != Errc::exists) return made;
    TRY_DO(directory_at(top_, entry.path));
  }
  directories_.push_back(entry);
  return {};
}

Status TreeWriter::make_link(const frame::ArchiveEntry& entry) {
  TRY(const os::Fd parent, parent_of(entry.path));
  const std::string name = name_of(entry.path);
  TRY_DO(os::symlinkat(entry.target.c_str(), parent, name.c_str()));
  if (owners_ == Owners::kept) TRY_DO(os::fchownat(parent, name.c_str(), entry.uid, entry.gid));
  return os::set_modified(parent, name.c_str(), entry.modified);
}

Status TreeWriter::make_hard_link(const frame::ArchiveEntry& entry) {
  TRY(const os::Fd parent, parent_of(entry.path));
  TRY(const os::Fd from, parent_of(entry.target));
  return os::linkat(from, name_of(entry.target).c_str(), parent, name_of(entry.path).c_str());
}

Status TreeWriter::end() {
  TRY_DO(end_file());
  // The last first: the time of a directory is not moved by what happens below it any more.
  for (const frame::ArchiveEntry& entry : directories_ | std::views::reverse) {
    TRY(const os::Fd directory,
        os::open_beneath(top_, entry.path.c_str(),
                         {.flags = O_RDONLY | O_DIRECTORY, .symlinks = os::Symlinks::refused}));
    if (owners_ == Owners::kept) TRY_DO(os::fchown(directory, entry.uid, entry.gid));
    TRY_DO(os::fchmod(directory, owners_ == Owners::kept ? entry.mode : entry.mode | kOwnersAll));
    TRY_DO(os::set_modified(directory, entry.modified));
  }
  return {};
}

}  // namespace cordon::image
