// SPDX-License-Identifier: Apache-2.0
#include "launcher/machine_templates.h"

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/memfd.h"
#include "os/test_support.h"

namespace cordon::launcher {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

class MachineTemplatesTest : public testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(os::create_file(dir_.fd(), name.c_str(), text, 0600));
  }
  bool has(const std::string& name) const {
    return static_cast<bool>(os::openat(dir_.fd(), name.c_str(), O_RDONLY));
  }
  std::string place() const { return dir_.path(); }

  // One of that size for launchers to come.
  void keep(std::uint64_t mebibytes) const {
    MachineTemplates templates;
    auto memory = os::memfd_create("memory");
    auto state = os::memfd_create("state");
    ASSERT_TRUE(memory && state);
    const TemplateKey key{.memory = mebibytes * kMebibyte, .kvm = false};
    templates.add(key, {.memory = *std::move(memory), .state = *std::move(state)});
    ASSERT_TRUE(templates.keep(key, place(), "/nonexistent/qemu"));
  }
  Status room() const { return MachineTemplates{}.make_room(place(), "/nonexistent/qemu"); }

  os::TempDir dir_;
};

TEST_F(MachineTemplatesTest, FourSizesAreEnough) {
  put("vmlinux", "kernel");
  put("initramfs", "files");
  for (const std::uint64_t size : {256U, 300U, 512U}) keep(size);
  EXPECT_TRUE(room());
  keep(1024);
  const Status full = room();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Errc::exhausted);
  EXPECT_TRUE(has("memory-tcg-256"));
}

TEST_F(MachineTemplatesTest, ThoseOfAnotherKernelMakeRoom) {
  put("vmlinux", "kernel");
  put("initramfs", "files");
  for (const std::uint64_t size : {256U, 300U, 512U, 1024U}) keep(size);
  ASSERT_EQ(::unlinkat(dir_.fd().get(), "initramfs", 0), 0);
  put("initramfs", "other files");
  EXPECT_TRUE(room());
  for (const char* name : {"memory-tcg-256", "state-tcg-300", "origin-tcg-512"}) {
    EXPECT_FALSE(has(name)) << name;
  }
  EXPECT_TRUE(has("vmlinux") && has("initramfs"));
}

}  // namespace
}  // namespace cordon::launcher
