// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/initramfs.h"
#include "machine/kernel_image.h"
#include "machine/module_order.h"

namespace cordon::machine {
namespace {

using namespace std::string_literals;

void put_number(std::string& file, std::size_t at, std::uint32_t value) {
  for (unsigned byte = 0; byte < 4; ++byte) {
    file[at + byte] = static_cast<char>((value >> (8 * byte)) & 0xFFU);
  }
}

// A payload that is not compressed, in a head as boot loaders read it.
std::string bzimage(const std::string& payload) {
  std::string file(1024, '\0');
  file[0x1f1] = 1;
  file.replace(0x202, 4, "HdrS");
  put_number(file, 0x248, 0);
  put_number(file, 0x24c, static_cast<std::uint32_t>(payload.size()));
  return file + payload;
}

TEST(KernelImage, GivesTheKernelInside) {
  const std::string elf =
      "\x7f"
      "ELF and more"s;
  EXPECT_EQ(*kernel_of(elf), elf);
  const auto inside = kernel_of(bzimage(elf));
  ASSERT_TRUE(inside) << inside.error().text();
  EXPECT_EQ(*inside, elf);
}

TEST(KernelImage, RefusesWhatIsNone) {
  EXPECT_FALSE(kernel_of("text"));
  EXPECT_FALSE(kernel_of(bzimage("no kernel")));
  std::string cut = bzimage(
      "\x7f"
      "ELF"s);
  put_number(cut, 0x24c, 0xFFFFFFFFU);
  EXPECT_FALSE(kernel_of(cut));
  put_number(cut, 0x248, 0xFFFFFFFFU);
  EXPECT_FALSE(kernel_of(cut));
}

TEST(ModuleOrder, PutsWhatIsNeededFirst) {
  const std::vector<std::string_view> wanted{"a", "c_d", "inside"};
  const auto order = module_order("k/a.ko: k/b.ko k/base.ko\nk/c-d.ko.xz: k/base.ko\nk/base.ko:\n",
                                  "k/inside.ko\n", wanted);
  ASSERT_TRUE(order);
  EXPECT_EQ(*order, (std::vector<std::string>{"k/base.ko", "k/b.ko", "k/a.ko", "k/c-d.ko.xz"}));
  const std::vector<std::string_view> none{"other"};
  EXPECT_FALSE(module_order("k/a.ko:\n", "", none));
}

TEST(Initramfs, IsWhatAKernelUnpacks) {
  const std::string packed =
      pack({{.path = "d", .bytes = {}, .mode = 040755}, {.path = "d/f", .bytes = "abc"}});
  EXPECT_EQ(packed.size() % 4, 0U);
  EXPECT_EQ(packed.substr(0, 6), "070701");
  EXPECT_NE(packed.find("d/f\0\0\0abc"s), std::string::npos);
  EXPECT_NE(packed.find("TRAILER!!!"), std::string::npos);
}

}  // namespace
}  // namespace cordon::machine
