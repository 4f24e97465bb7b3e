// SPDX-License-Identifier: Apache-2.0
#include "launcher/machine_templates.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launcher/engine_files.h"
#include "launcher/qemu.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/memfd.h"

namespace cordon::launcher {
namespace {

// Each has a hundred megabytes, and more of a large machine.
constexpr std::size_t kMostTemplates = 4;
constexpr std::size_t kMostNames = 256;
constexpr std::size_t kMostState = std::size_t{16} << 20U;

std::string name_of(const TemplateKey& key, const char* part) {
  return fmt::format("{}-{}-{}", part, key.kvm ? "kvm" : "tcg", key.memory >> 20U);
}

std::string stamp_of(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) return "none";
  return fmt::format("{} {} {} {}.{:09}", path, st.st_ino, st.st_size, st.st_mtim.tv_sec,
                     st.st_mtim.tv_nsec);
}

// Everything that a saved machine depends on, this host's processor included.
std::string origin_of(const std::string& directory, const std::string& qemu) {
  std::string model = "none";
  if (const auto text = os::read_file(os::at_cwd(), "/proc/cpuinfo")) {
    const std::size_t begin = text->find("model name");
    model = text->substr(std::min(begin, text->size()), text->find('\n', begin) - begin);
  }
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", kMachineShape, stamp_of(qemu),
                     stamp_of(directory + "/vmlinux"), stamp_of(directory + "/initramfs"), model);
}

// Only what is there: most of a machine's memory was never touched.
Status copy_sparse(const os::Fd& from, const os::Fd& to) {
  struct stat st{};
  if (::fstat(from.get(), &st) != 0) return Error::from_errno("fstat");
  if (::ftruncate(to.get(), st.st_size) != 0) return Error::from_errno("ftruncate");
  for (off_t at = 0; at < st.st_size;) {
    const off_t data = ::lseek(from.get(), at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return {};
    if (data < 0) return Error::from_errno("lseek");
    const off_t end = ::lseek(from.get(), data, SEEK_HOLE);
    if (end < 0 || ::lseek(to.get(), data, SEEK_SET) < 0) return Error::from_errno("lseek");
    for (off_t next = data; next < end;) {
      const ssize_t put =
          ::sendfile(to.get(), from.get(), &next, static_cast<std::size_t>(end - next));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return Error::from_errno("sendfile");
    }
    at = end;
  }
  return {};
}

Result<MachineTemplate> read_kept(const TemplateKey& key, const std::string& directory,
                                  const std::string& qemu) {
  TRY(const os::Fd place, os::openat(os::at_cwd(), directory.c_str(), O_RDONLY | O_DIRECTORY));
  TRY(const std::string origin, os::read_file(place, name_of(key, "origin").c_str()));
  if (origin != origin_of(directory, qemu)) return Error{Errc::unavailable, "of another machine"};
  TRY(const os::Fd memory, open_trusted(directory + "/" + name_of(key, "memory"), O_RDONLY));
  TRY(const os::Fd state, open_trusted(directory + "/" + name_of(key, "state"), O_RDONLY));
  MachineTemplate kept;
  TRY(kept.memory, os::memfd_create("machine"));
  TRY_DO(copy_sparse(memory, kept.memory));
  TRY_DO(os::seal(kept.memory));
  TRY(kept.state, os::memfd_create("machine-state"));
  TRY_DO(os::fill_and_seal(kept.state, state, kMostState));
  return kept;
}

// Those that nobody can begin as any more; how many others are there.
Result<std::size_t> drop_stale(const os::Fd& place, const std::string& origin) {
  constexpr std::string_view kOrigin = "origin";
  TRY(const auto names, os::list_directory(place, kMostNames));
  std::size_t kept = 0;
  for (const std::string& name : names) {
    if (!name.starts_with(kOrigin)) continue;
    if (const auto text = os::read_file(place, name.c_str()); text && *text == origin) {
      ++kept;
      continue;
    }
    const std::string key = name.substr(kOrigin.size());
    for (const char* part : {"memory", "state", "origin"}) {
      static_cast<void>(os::unlinkat(place, (part + key).c_str()));
    }
  }
  return kept;
}

Status put_copy(const os::Fd& place, const std::string& name, const os::Fd& from) {
  const std::string part = name + ".part";
  static_cast<void>(os::unlinkat(place, part.c_str()));
  TRY(const os::Fd to, os::openat(place, part.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  TRY_DO(copy_sparse(from, to));
  return os::renameat(place, part.c_str(), place, name.c_str(), os::Replace::allow);
}

}  // namespace

const MachineTemplate* MachineTemplates::find(const TemplateKey& key, const std::string& directory,
                                              const std::string& qemu) {
  auto known = templates_.find(key);
  if (known == templates_.end()) {
    auto kept = read_kept(key, directory, qemu);
    if (!kept) return nullptr;
    known = templates_.emplace(key, *std::move(kept)).first;
  }
  return &known->second;
}

Status MachineTemplates::make_room(const std::string& directory, const std::string& qemu) const {
  std::size_t kept = 0;
  if (const auto place = os::openat(os::at_cwd(), directory.c_str(), O_RDONLY | O_DIRECTORY)) {
    TRY(kept, drop_stale(*place, origin_of(directory, qemu)));
  }
  if (std::max(kept, templates_.size()) < kMostTemplates) return {};
  return Error{Errc::exhausted, "enough sizes of machines are kept"};
}

void MachineTemplates::add(const TemplateKey& key, MachineTemplate made) {
  templates_.insert_or_assign(key, std::move(made));
}

Status MachineTemplates::keep(const TemplateKey& key, const std::string& directory,
                              const std::string& qemu) const {
  const auto known = templates_.find(key);
  if (known == templates_.end()) return Error{Errc::not_found, "no such machine"};
  TRY(const os::Fd place, os::openat(os::at_cwd(), directory.c_str(), O_RDONLY | O_DIRECTORY));
  // The origin last: without it the others count for nothing.
  const std::string origin = name_of(key, "origin");
  static_cast<void>(os::unlinkat(place, origin.c_str()));
  TRY_DO(put_copy(place, name_of(key, "memory"), known->second.memory));
  TRY_DO(put_copy(place, name_of(key, "state"), known->second.state));
  return os::create_file(place, origin.c_str(), origin_of(directory, qemu), 0600);
}

}  // namespace cordon::launcher
