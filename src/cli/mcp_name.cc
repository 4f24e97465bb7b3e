// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_name.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cordon::cli {
namespace {

// Programs whose first word that is no flag says what they run.
constexpr std::array<std::string_view, 12> kRunners = {
    "npx", "bunx", "uvx", "uv", "node", "bun", "deno", "python", "pnpm", "python3", "pipx", "sh"};
constexpr std::array<std::string_view, 4> kVerbs = {"run", "dlx", "exec", "x"};

std::string_view base_of(std::string_view word) {
  while (word.ends_with('/')) word.remove_suffix(1);
  const std::size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string_view word_of(const std::vector<std::string>& command) {
  const std::string_view program = base_of(command.front());
  if (std::ranges::find(kRunners, program) == kRunners.end()) return program;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const bool is_verb = std::ranges::find(kVerbs, word) != kVerbs.end();
    if (!word.empty() && !word.starts_with('-') && !is_verb) return base_of(word);
  }
  return program;
}

}  // namespace

bool is_server_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_name_character);
}

std::string server_name_of(const std::vector<std::string>& command) {
  if (command.empty()) return "server";
  std::string_view word = word_of(command);
  if (const std::size_t version = word.find('@', 1); version != std::string_view::npos)
    word = word.substr(0, version);
  for (const std::string_view ending : {".js", ".mjs", ".cjs", ".ts", ".py"}) {
    if (word.ends_with(ending)) word.remove_suffix(ending.size());
  }
  for (const std::string_view beginning : {"mcp-server-", "mcp-", "server-"}) {
    if (word.starts_with(beginning) && word.size() > beginning.size())
      word.remove_prefix(beginning.size());
  }
  for (const std::string_view ending : {"-mcp-server", "-server", "-mcp"}) {
    if (word.ends_with(ending) && word.size() > ending.size()) word.remove_suffix(ending.size());
  }
  std::string name;
  for (const char c : word.substr(0, 64)) name += is_name_character(c) ? c : '-';
  return name.empty() ? "server" : name;
}

}  // namespace cordon::cli
