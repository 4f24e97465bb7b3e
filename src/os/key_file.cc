// SPDX-License-Identifier: Apache-2.0
#include "os/key_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "base/wiped.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/positioned_file.h"
#include "os/random.h"

namespace cordon::os {
namespace {

constexpr mode_t kOwnOnly = 0600;

Status check_own(const Fd& file, const std::string& name) {
  TRY(const FileStatus status, statx(file));
  if (status.type == FileType::regular && status.uid == ::geteuid() && (status.mode & 0077U) == 0) {
    return {};
  }
  return Error{Errc::denied, name + " is not a file of ours alone"};
}

// Whole or not at all: a key that was cut off would lock for ever what was made with it.
Status make_key(const Fd& directory, const std::string& name, std::size_t size) {
  const std::string half_made = name + ".new";
  std::vector<std::byte> key(size);
  Status made = getrandom(key);
  if (made) {
    static_cast<void>(unlinkat(directory, half_made.c_str()));
    made = create_file(directory, half_made.c_str(), as_text(key), kOwnOnly);
  }
  wipe(key);
  TRY_DO(std::move(made));
  TRY(const Fd file, openat(directory, half_made.c_str(), O_RDONLY | O_NOFOLLOW));
  TRY_DO(sync_data(file));
  if (::linkat(directory.get(), half_made.c_str(), directory.get(), name.c_str(), 0) != 0) {
    return Error::from_errno("link").with(name);
  }
  static_cast<void>(unlinkat(directory, half_made.c_str()));
  return sync_data(directory);
}

}  // namespace

Result<Fd> open_key_file(const Fd& directory, const std::string& name, std::size_t size) {
  auto key = openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!key && key.error().code() == Errc::not_found) {
    TRY_DO(make_key(directory, name, size));
    key = openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW);
  }
  if (key) TRY_DO(check_own(*key, name));
  return key;
}

Result<Fd> open_kept_file(const Fd& directory, const std::string& name) {
  TRY(Fd file, openat(directory, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, kOwnOnly));
  TRY_DO(check_own(file, name));
  return file;
}

}  // namespace cordon::os
