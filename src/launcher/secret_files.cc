// SPDX-License-Identifier: Apache-2.0
#include "launcher/secret_files.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/id.h"
#include "base/wiped.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/positioned_file.h"
#include "os/random.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr mode_t kOwnOnly = 0600;

Status check_own(const os::Fd& file, const std::string& name) {
  TRY(const os::FileStatus status, os::statx(file));
  if (status.type == os::FileType::regular && status.uid == ::geteuid() &&
      (status.mode & 0077U) == 0) {
    return {};
  }
  return Error{Errc::denied, "store of secrets: " + name + " is not a file of ours alone"};
}

// Whole or not at all: a key that was cut off would lock its store for ever.
Status make_key(const os::Fd& directory, const std::string& name) {
  const std::string half_made = name + ".new";
  std::array<std::byte, kKeyBytes> key{};
  Status made = os::getrandom(key);
  if (made) {
    static_cast<void>(::unlinkat(directory.get(), half_made.c_str(), 0));
    made = os::create_file(directory, half_made.c_str(), as_text(key), kOwnOnly);
  }
  wipe(key);
  TRY_DO(std::move(made));
  TRY(const os::Fd file, os::openat(directory, half_made.c_str(), O_RDONLY | O_NOFOLLOW));
  TRY_DO(os::sync_data(file));
  if (::linkat(directory.get(), half_made.c_str(), directory.get(), name.c_str(), 0) != 0) {
    return Error::from_errno("link").with(name);
  }
  static_cast<void>(::unlinkat(directory.get(), half_made.c_str(), 0));
  return os::sync_data(directory);
}

Result<os::Fd> open_key(const os::Fd& directory, const std::string& name) {
  auto key = os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW);
  if (key || key.error().code() != Errc::not_found) return key;
  TRY_DO(make_key(directory, name));
  return os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW);
}

}  // namespace

Result<SecretFiles> open_secret_files(const os::Fd& directory, const std::string& tenant) {
  if (!is_base32_name(tenant)) return Error{Errc::denied, "a tenant that is not of our alphabet"};
  SecretFiles files;
  const std::string key = tenant + ".key";
  TRY(files.key, open_key(directory, key));
  TRY_DO(check_own(files.key, key));
  const std::string store = tenant + ".store";
  TRY(files.store, os::openat(directory, store.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, kOwnOnly));
  TRY_DO(check_own(files.store, store));
  return files;
}

}  // namespace cordon::launcher
