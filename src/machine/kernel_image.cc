// SPDX-License-Identifier: Apache-2.0
#include "machine/kernel_image.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "machine/decompress.h"

namespace cordon::machine {
namespace {

constexpr std::string_view kElf{
    "\x7f"
    "ELF"};
// Of the setup header, the kernel's Documentation/arch/x86/boot.rst.
constexpr std::size_t kSetupSectors = 0x1f1;
constexpr std::size_t kMagic = 0x202;
constexpr std::size_t kPayloadOffset = 0x248;
constexpr std::size_t kPayloadLength = 0x24c;
constexpr std::size_t kSector = 512;
constexpr std::size_t kMostKernel = std::size_t{256} << 20U;

std::uint32_t number_at(std::string_view file, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

}  // namespace

Result<std::string> kernel_of(std::string_view file) {
  if (file.starts_with(kElf)) return std::string{file};
  if (file.size() < kPayloadLength + 4 || file.substr(kMagic, 4) != "HdrS") {
    return Error{Errc::invalid, "neither a bzImage nor an ELF file"};
  }
  const std::size_t sectors = static_cast<unsigned char>(file[kSetupSectors]);
  const std::size_t begin =
      ((sectors == 0 ? 4 : sectors) + 1) * kSector + number_at(file, kPayloadOffset);
  const std::size_t length = number_at(file, kPayloadLength);
  if (begin > file.size() || length > file.size() - begin) {
    return Error{Errc::invalid, "a bzImage that is cut off"};
  }
  TRY(std::string kernel, decompress(file.substr(begin, length), kMostKernel));
  if (!kernel.starts_with(kElf)) return Error{Errc::invalid, "a bzImage without an ELF file"};
  return kernel;
}

}  // namespace cordon::machine
