// SPDX-License-Identifier: Apache-2.0
#include "launcher/engine_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/root.h"
#include "os/file.h"
#include "os/mount.h"

namespace cordon::launcher {
namespace {

constexpr os::MountAttributes kSharedProgram{.read_only = true, .nosuid = true, .nodev = true};

}  // namespace

Result<os::Fd> open_trusted(const std::string& path, int flags) {
  auto file = os::openat(os::at_cwd(), path.c_str(), flags);
  if (!file) return Error{Errc::unavailable, path + ": " + file.error().cause().message()};
  struct stat st{};
  if (::fstat(file->get(), &st) != 0) return Error::from_errno("fstat").with(path);
  if (!S_ISREG(st.st_mode)) return Error{Errc::unavailable, path + ": not a file"};
  if (::geteuid() == 0 && (st.st_uid != 0 || (st.st_mode & 022U) != 0)) {
    return Error{Errc::unavailable, path + ": somebody but root can write it"};
  }
  return file;
}

Result<os::Fd> detach_program(const os::Fd& file) {
  TRY(os::Fd tree, os::open_tree(file, os::Reach::one));
  TRY_DO(os::mount_setattr(tree, kSharedProgram, os::Reach::one));
  return tree;
}

Result<os::Fd> make_small_tmpfs() {
  TRY(const os::Fd context, os::fsopen("tmpfs"));
  TRY_DO(os::fsconfig_string(context, "size", "1m"));
  TRY_DO(os::fsconfig_string(context, "mode", "0755"));
  TRY_DO(os::fsconfig_create(context));
  return os::fsmount(context, {.nosuid = true, .nodev = true});
}

Result<os::Fd> make_fresh_proc() {
  TRY(const os::Fd context, os::fsopen("proc"));
  TRY_DO(os::fsconfig_create(context));
  return os::fsmount(context, {.nosuid = true, .nodev = true, .noexec = true});
}

// A copy: what a more powerful namespace has mounted cannot be moved, nor made the root.
Status become_root(const char* path) {
  TRY(const os::Fd tree, os::open_tree(os::at_cwd(), path, os::Reach::whole_tree));
  TRY_DO(os::move_mount(tree, os::at_cwd(), path));
  TRY(const os::Fd root, os::openat(os::at_cwd(), path, O_PATH | O_DIRECTORY));
  return enter_root(root);
}

}  // namespace cordon::launcher
