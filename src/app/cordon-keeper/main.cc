// SPDX-License-Identifier: Apache-2.0
// cordon-keeper: writes what a node has built into the store of images, and nothing else anywhere.
// Archives are read by cordon-unpack, which has no rights; what it says is written beneath the
// store.
//
// cordon-keeper --serve STORE   started by the launcher: descriptor 3 is the node
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "image/keep.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/rlimit.h"

namespace {

using namespace cordon;

constexpr int kNode = 3;

// Of root's rights those that writing other owners' files takes (chown, dac_override,
// dac_read_search, fowner), a child that has fewer (setpcap), and a trial of what was made
// (sys_admin): the kernel's numbers.
constexpr os::CapabilitySet kKept{0, 1, 2, 3, 8, 21};

Status grant(const os::LandlockRuleset& rules, const std::string& path, std::uint64_t rights) {
  const auto opened = os::openat(os::at_cwd(), path.c_str(), O_PATH);
  if (!opened && opened.error().code() == Errc::not_found) return {};
  if (!opened) return opened.error();
  const bool is_directory = std::filesystem::is_directory(path);
  return rules.add_path(*opened, is_directory ? rights : rights & os::landlock_file_rights());
}

Status restrict_files(const std::string& store, const std::string& unpack) {
  constexpr std::uint64_t kRead = os::abi::kFsReadFile | os::abi::kFsReadDir;
  constexpr std::uint64_t kRun = kRead | os::abi::kFsExecute;
  const auto abi = os::landlock_abi();
  if (!abi) return {};
  TRY(const os::LandlockRuleset rules,
      os::LandlockRuleset::create(os::landlock_rights_of(*abi), *abi));
  TRY_DO(grant(rules, store,
               kRead | os::abi::kFsWriteFile | os::abi::kFsMakeReg | os::abi::kFsMakeDir |
                   os::abi::kFsMakeSym | os::abi::kFsRemoveFile | os::abi::kFsRemoveDir |
                   os::abi::kFsRefer | os::abi::kFsTruncate));
  TRY_DO(grant(rules, unpack, kRun));
  for (const char* const place : {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache"}) {
    TRY_DO(grant(rules, place, kRun));
  }
  TRY_DO(grant(rules, "/proc", kRead));
  TRY_DO(grant(rules, "/dev/null", kRead | os::abi::kFsWriteFile));
  return rules.restrict_self();
}

Status confine(const std::string& store, const std::string& unpack) {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(os::set_no_new_privs());
  TRY_DO(restrict_files(store, unpack));
  return os::keep_exactly(kKept);
}

Status serve(const std::string& directory) {
  const os::Fd node{kNode};
  TRY_DO(os::close_from(kNode + 1));
  TRY(const image::Store store, image::Store::make(directory));
  std::error_code ignored;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string unpack = own.parent_path() / "cordon-unpack";
  TRY_DO(confine(directory, unpack));
  return image::keep_for_node(store, image::Unpacker{unpack}, node);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() != 2 || words.front() != "--serve") {
    static_cast<void>(std::fputs("cordon-keeper: started by the launcher\n", stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  if (const Status hidden = os::set_dumpable(false); !hidden) return 125;
  const Status done = serve(words.back());
  if (done) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon-keeper: %s\n", done.error().text().c_str()));
  return 1;
}
