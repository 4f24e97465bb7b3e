// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_pins.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "cli/replaced_file.h"
#include "hash/sha256.h"
#include "os/own_directory.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// All of them wait, each as long as it may be.
constexpr std::size_t kLongestFile = mcp::kMostPins * (mcp::kLongestTool + 8192);

std::string program_of(const std::string& word, const Context& context) {
  if (word.find('/') != std::string::npos) return word;
  std::istringstream path{context.environment("PATH").value_or("")};
  for (std::string directory; std::getline(path, directory, ':');) {
    std::error_code ignored;
    const fs::path there = fs::path{directory} / word;
    if (directory.starts_with('/') && fs::is_regular_file(there, ignored)) return there.string();
  }
  return word;
}

// Kept by the system's packages: they change with it, and not with a server.
bool is_system_program(const fs::path& program) {
  const std::string place = program.parent_path().string();
  return place == "/usr/bin" || place == "/bin" || place == "/usr/sbin" || place == "/sbin";
}

Status add_file(const fs::path& file, Sha256& hash) {
  std::ifstream in{file, std::ios::binary};
  std::array<char, 65536> piece{};
  while (in) {
    in.read(piece.data(), piece.size());
    hash.add(as_bytes(std::string_view{piece.data(), static_cast<std::size_t>(in.gcount())}));
  }
  if (!in.eof()) return Error{Errc::unavailable, "cannot be read: " + file.string()};
  return {};
}

}  // namespace

Result<std::string> files_digest(const std::vector<std::string>& command,
                                 const std::string& directory, const Context& context) {
  Sha256 all;
  for (const std::string& word : command) {
    const bool is_program = &word == command.data();
    const std::string named = is_program ? program_of(word, context) : word;
    std::error_code error;
    const fs::path there = fs::canonical(fs::path{directory} / named, error);
    if (error || named.empty() || !fs::is_regular_file(there, error)) continue;
    if (is_program && is_system_program(there)) continue;
    Sha256 one;
    TRY_DO(add_file(there, one));
    Digest digest{};
    one.end(digest);
    all.add(digest);
  }
  Digest digest{};
  all.end(digest);
  return to_hex(digest);
}

std::string command_digest(const std::vector<std::string>& command, const std::string& directory,
                           const Context& context) {
  Sha256 hash;
  for (const std::string& word : command) {
    const std::string named = &word == command.data() ? program_of(word, context) : word;
    std::error_code error;
    const fs::path there = fs::canonical(fs::path{directory} / named, error);
    const std::string text = error || named.empty() ? named : there.string();
    hash.add(as_bytes(text));
    hash.add(as_bytes(std::string_view{"\0", 1}));
  }
  Digest digest{};
  hash.end(digest);
  return to_hex(digest);
}

Result<PinStore> PinStore::open(const std::string& state, const std::string& key) {
  std::error_code ignored;
  fs::create_directories(state + "/mcp", ignored);
  if (auto own = os::open_own_directory(state + "/mcp"); !own)
    return std::move(own).error().with("the pins of tools");
  return PinStore{state + "/mcp/" + key + ".pins"};
}

Result<mcp::PinFile> PinStore::read() const {
  auto text = os::read_own_file(path_, kLongestFile);
  if (!text && text.error().code() == Errc::not_found) return mcp::PinFile{};
  if (!text) return std::move(text).error().with("the pins of tools");
  auto file = mcp::parse_pins(*text);
  if (!file) return std::move(file).error().with(path_);
  return file;
}

Status PinStore::write(const mcp::PinFile& file) const {
  TRY(const ReplacedFile replaced, ReplacedFile::open(path_));
  Status written = replaced.write(to_text(file), 0600);
  if (!written) return std::move(written).error().with(path_);
  return {};
}

}  // namespace cordon::cli
