// SPDX-License-Identifier: Apache-2.0
#include "cli/text_file.h"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace cordon::cli {
namespace {

constexpr std::size_t kLargest = 1 << 20;

Result<std::string> read_all(std::istream& from, const std::string& name) {
  constexpr std::size_t kPart = 8192;
  std::string text;
  while (from && text.size() <= kLargest) {
    const std::size_t held = text.size();
    text.resize(held + kPart);
    from.read(text.data() + held, kPart);
    text.resize(held + static_cast<std::size_t>(from.gcount()));
  }
  if (from.bad()) return Error{Errc::not_found, name + ": cannot be read"};
  if (text.size() > kLargest) return Error{Errc::invalid, name + ": larger than 1 MiB"};
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  if (path == "-") return read_all(std::cin, "standard input");
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return Error{Errc::not_found, path + ": no such file"};
  }
  if (error) return Error{Errc::not_found, path + ": " + error.message()};
  if (std::filesystem::is_directory(status) || std::filesystem::is_block_file(status)) {
    return Error{Errc::not_found, path + ": is a directory or a device, not a file"};
  }
  std::ifstream file{path, std::ios::binary};
  if (!file) return Error{Errc::not_found, path + ": cannot be opened"};
  return read_all(file, path);
}

}  // namespace cordon::cli
