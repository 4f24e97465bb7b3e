// SPDX-License-Identifier: Apache-2.0
#include "os/process_view.h"

#include <chrono>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/mount.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// A process that has mounted a file system of its own, with a file `f` in it, until it is ended.
class Inhabitant {
 public:
  explicit Inhabitant(const std::filesystem::path& place) {
    auto ready = pipe2();
    auto end = pipe2();
    if (!ready || !end) return;
    end_ = std::move(end->write);
    pid_ = ::fork();
    if (pid_ == 0) {
      end_ = Fd{};
      if (mounts(place)) static_cast<void>(write_all(ready->write, "1"));
      ready->write = Fd{};
      static_cast<void>(read_byte(end->read));
      ::_exit(0);
    }
    ready->write = Fd{};
    lives_ = pid_ > 0 && read_byte(ready->read);
  }
  Inhabitant(const Inhabitant&) = delete;
  Inhabitant& operator=(const Inhabitant&) = delete;
  ~Inhabitant() { leave(); }

  void leave() {
    end_ = Fd{};
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool lives() const { return lives_; }
  pid_t pid() const { return pid_; }

 private:
  static bool read_byte(const Fd& from) {
    char byte = 0;
    return ::read(from.get(), &byte, 1) == 1;
  }
  static Status mounts(const std::filesystem::path& place) {
    TRY_DO(enter_own_namespaces());
    TRY(const Fd context, fsopen("tmpfs"));
    TRY_DO(fsconfig_create(context));
    TRY(const Fd mount, fsmount(context, {}));
    TRY_DO(create_file(mount, "f", "inside", 0600));
    return move_mount(mount, at_cwd(), place.c_str());
  }

  Fd end_;
  pid_t pid_ = 0;
  bool lives_ = false;
};

TEST(HeldTree, IsSeenAsItWasWhenNobodyLivesInItAnyMore) {
  const TempDir dir;
  const std::string file = (dir.path() / "f").string();
  Inhabitant inhabitant{dir.path()};
  if (!inhabitant.lives()) GTEST_SKIP() << "no mount namespace of our own";
  const auto held = tree_of(inhabitant.pid());
  ASSERT_TRUE(held) << held.error().text();
  KnownMounts mounts;
  ASSERT_TRUE(look_at(held->root, file, true, mounts));
  inhabitant.leave();
  const auto after = look_at(held->root, file, true, mounts);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->path, file);
}

TEST(HeldTree, IsGoneWithItsLastInhabitantWhereOnlyItsRootIsHeld) {
  const TempDir dir;
  const std::string file = (dir.path() / "f").string();
  Inhabitant inhabitant{dir.path()};
  if (!inhabitant.lives()) GTEST_SKIP() << "no mount namespace of our own";
  auto held = tree_of(inhabitant.pid());
  ASSERT_TRUE(held) << held.error().text();
  held->mounts = Fd{};
  inhabitant.leave();
  KnownMounts mounts;
  bool is_as_it_was = true;
  for (int i = 0; is_as_it_was && i < 500; ++i) {  // the kernel takes it apart when it likes
    const auto after = look_at(held->root, file, true, mounts);
    is_as_it_was = after && after->path == file;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_FALSE(is_as_it_was);
}

}  // namespace
}  // namespace cordon::os
