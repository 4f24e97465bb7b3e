// SPDX-License-Identifier: Apache-2.0
#include "os/process_view.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>

#include "os/file.h"
#include "os/openat2.h"

namespace cordon::os {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostPointers = 256;

std::string place_of(pid_t pid, std::string_view what) {
  return "/proc/" + std::to_string(pid) + "/" + std::string{what};
}

// What is there of `into.size()` bytes. A read stops where a page is not there: each page is a part
// of its own, because the kernel reads parts whole or not at all.
Result<std::size_t> read_memory(pid_t pid, std::uint64_t address, std::span<char> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    std::array<iovec, 8> remote{};
    std::size_t parts = 0;
    std::size_t wanted = 0;
    for (; parts < remote.size() && got + wanted < into.size(); ++parts) {
      const std::uint64_t from = address + got + wanted;
      const std::size_t length =
          std::min<std::size_t>(kPage - from % kPage, into.size() - got - wanted);
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
      remote[parts] = {.iov_base = reinterpret_cast<void*>(from), .iov_len = length};
      wanted += length;
    }
    const iovec local{.iov_base = into.data() + got, .iov_len = wanted};
    const ssize_t read = ::process_vm_readv(pid, &local, 1, remote.data(), parts, 0);
    if (read < 0 && got == 0) return Error::from_errno("process_vm_readv");
    if (read <= 0) break;
    got += static_cast<std::size_t>(read);
    if (static_cast<std::size_t>(read) < wanted) break;
  }
  return got;
}

Result<std::string> link_at(const std::string& place) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlink(place.c_str(), text.data(), text.size());
  if (length < 0) return Error::from_errno("readlink");
  return std::string{text.data(), static_cast<std::size_t>(length)};
}

// The last number of a line of /proc/PID/status.
std::uint32_t last_number(std::string_view status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == std::string_view::npos) return 0;
  std::string_view line = status.substr(at + name.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_last_of("\t ") + 1, line.size()));
  std::uint32_t number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

}  // namespace

Result<std::string> read_bytes_of(pid_t pid, std::uint64_t address, std::size_t length) {
  std::string bytes(length, '\0');
  TRY(const std::size_t got, read_memory(pid, address, bytes));
  bytes.resize(got);
  return bytes;
}

Result<std::string> read_text_of(pid_t pid, std::uint64_t address, std::size_t most) {
  // Most texts are short: a second look is for the few that are not.
  const std::size_t first = std::min<std::size_t>(most, 256);
  TRY(std::string text, read_bytes_of(pid, address, first));
  std::size_t end = text.find('\0');
  if (end == std::string::npos && text.size() == first && first < most) {
    TRY(text, read_bytes_of(pid, address, most));
    end = text.find('\0');
  }
  if (end != std::string::npos) text.resize(end);
  return text;
}

std::vector<std::string> read_texts_of(pid_t pid, std::uint64_t address, std::size_t most) {
  std::vector<std::string> texts;
  const auto pointers = read_bytes_of(pid, address, kMostPointers * sizeof(std::uint64_t));
  if (!pointers) return texts;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= pointers->size() && most > 0;
       at += sizeof(std::uint64_t)) {
    std::uint64_t pointer = 0;
    std::memcpy(&pointer, pointers->data() + at, sizeof pointer);
    if (pointer == 0) break;
    auto text = read_text_of(pid, pointer, most);
    if (!text) break;
    most -= std::min(most, text->size() + 1);
    texts.push_back(*std::move(text));
  }
  return texts;
}

Result<ProcessNames> names_of(pid_t pid) {
  TRY(const std::string status, read_file(at_cwd(), place_of(pid, "status").c_str()));
  ProcessNames names{.inside = last_number(status, "\nNSpid:"),
                     .parent = static_cast<pid_t>(last_number(status, "\nPPid:"))};
  constexpr std::string_view kName = "Name:\t";
  if (status.starts_with(kName)) {
    names.command = status.substr(kName.size(), status.find('\n') - kName.size());
  }
  return names;
}

Result<std::string> directory_of(pid_t pid) { return link_at(place_of(pid, "cwd")); }

Result<std::string> descriptor_of(pid_t pid, int number) {
  return link_at(place_of(pid, "fd/" + std::to_string(number)));
}

Result<HeldTree> tree_of(pid_t pid) {
  TRY(Fd root, openat(at_cwd(), place_of(pid, "root").c_str(), O_PATH | O_DIRECTORY));
  TRY(Fd mounts, openat(at_cwd(), place_of(pid, "ns/mnt").c_str(), O_RDONLY));
  return HeldTree{.root = std::move(root), .mounts = std::move(mounts)};
}

Result<LookedAt> look_at(const Fd& root, const std::string& path, bool follow, KnownMounts& known) {
  TRY(const Fd found,
      open_in_root(root, path.c_str(), {.flags = O_PATH | (follow ? 0 : O_NOFOLLOW)}));
  struct statx about{};
  if (::statx(found.get(), "", AT_EMPTY_PATH, STATX_MODE | STATX_TYPE | STATX_MNT_ID, &about) !=
      0) {
    return Error::from_errno("statx");
  }
  auto flags = known.find(about.stx_mnt_id);
  if (flags == known.end()) {
    struct statvfs mount{};
    if (::fstatvfs(found.get(), &mount) != 0) return Error::from_errno("fstatvfs");
    flags = known.emplace(about.stx_mnt_id, mount.f_flag).first;
  }
  TRY(std::string place, link_at("/proc/self/fd/" + std::to_string(found.get())));
  return LookedAt{.path = std::move(place),
                  .mode = about.stx_mode,
                  .mount = about.stx_mnt_id,
                  .read_only = (flags->second & ST_RDONLY) != 0,
                  .no_exec = (flags->second & ST_NOEXEC) != 0};
}

}  // namespace cordon::os
