// SPDX-License-Identifier: Apache-2.0
#include "image/erofs_file.h"

#include <fcntl.h>
#include <filesystem>
#include <span>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "hash/sha256.h"
#include "image/tool.h"
#include "os/erofs.h"
#include "os/file.h"

namespace cordon::image {
namespace {

constexpr const char* kMake = "/usr/bin/mkfs.erofs";
constexpr const char* kNoId = "00000000-0000-0000-0000-000000000000";
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20U;

}  // namespace

Result<bool> make_erofs(const std::string& directory, const std::string& file) {
  // Only root mounts what is made, so that others need no file.
  if (::geteuid() != 0 || !std::filesystem::exists(kMake)) return false;
  // Not compressed: pages are then the file's own, and a guest that is emulated has less to do.
  // It reads what others have made: with the right to read it, and no other.
  TRY_DO(run_tool({.program = "/usr/bin/setpriv",
                   .arguments = {"setpriv", "--no-new-privs", "--inh-caps=-all",
                                 "--bounding-set=-all,+dac_read_search", kMake, "--quiet", "-x-1",
                                 "-U", kNoId, file, directory}}));
  if (os::mount_erofs(file)) return true;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return false;
}

Result<std::string> digest_of_file(const std::string& file) {
  TRY(const os::Fd open, os::openat(os::at_cwd(), file.c_str(), O_RDONLY | O_NOFOLLOW));
  Sha256 hash;
  std::vector<std::byte> piece(kReadAtOnce);
  while (true) {
    const ssize_t count = ::read(open.get(), piece.data(), piece.size());
    if (count < 0) return Error::from_errno("read").with(file);
    if (count == 0) break;
    hash.add(std::span{piece}.first(static_cast<std::size_t>(count)));
  }
  Digest digest{};
  hash.end(digest);
  return "sha256:" + to_hex(digest);
}

}  // namespace cordon::image
