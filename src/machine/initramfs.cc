// SPDX-License-Identifier: Apache-2.0
#include "machine/initramfs.h"

#include <fmt/format.h>

namespace cordon::machine {
namespace {

void pad(std::string& out) { out.append((4 - out.size() % 4) % 4, '\0'); }

// All of it root's, of 1970: the same files give the same bytes.
void add(std::string& out, std::uint32_t number, const PackedFile& file) {
  out += fmt::format(
      "070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}",
      number, file.mode, 0, 0, 1, 0, file.bytes.size(), 0, 0, 0, 0, file.path.size() + 1, 0);
  out += file.path;
  out += '\0';
  pad(out);
  out += file.bytes;
  pad(out);
}

}  // namespace

std::string pack(const std::vector<PackedFile>& files) {
  std::string out;
  std::uint32_t number = 0;
  for (const PackedFile& file : files) add(out, ++number, file);
  add(out, 0, {.path = "TRAILER!!!", .bytes = {}, .mode = 0});
  return out;
}

}  // namespace cordon::machine
