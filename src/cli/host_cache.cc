// SPDX-License-Identifier: Apache-2.0
#include "cli/host_cache.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/engine_facts.h"
#include "cli/machine.h"
#include "frame/launch_plan.h"
#include "os/caller.h"
#include "os/landlock.h"
#include "os/own_directory.h"
#include "os/probe_host.h"
#include "record/host_facts_text.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Of the program that a launcher would run.
std::string engine_key(const Context& context, const char* variable, const char* usual) {
  const fs::path path{context.environment(variable).value_or(usual)};
  std::error_code ignored;
  return fmt::format("{}:{}:{}", path.string(), fs::file_size(path, ignored),
                     fs::last_write_time(path, ignored).time_since_epoch().count());
}

// Whatever else would make a fact another: all of it in one line.
std::string key(const Context& context) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const auto written = fs::last_write_time(self, ignored).time_since_epoch().count();
  std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  std::string groups = text_of("/proc/self/cgroup");
  std::string release = text_of("/proc/sys/kernel/osrelease");
  std::string status = text_of("/proc/self/status");
  const std::size_t seccomp = status.find("Seccomp:");
  const std::size_t caps = status.find("CapEff:");
  std::string line = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", boot, release, self.string(),
                                 written, fs::file_size(self, ignored), os::caller_ids().uid,
                                 std::hash<std::string>{}(groups),
                                 status.substr(std::min(caps, status.size()), 24) +
                                     status.substr(std::min(seccomp, status.size()), 12),
                                 engine_key(context, frame::kRunscVariable, frame::kLocalRunsc),
                                 engine_key(context, frame::kQemuVariable, frame::kLocalQemu),
                                 context.environment(frame::kMachineVariable).value_or(""));
  std::erase(line, '\n');
  return line;
}

std::optional<fs::path> cache_file(const Context& context) {
  if (const auto cache = context.environment("XDG_CACHE_HOME"); cache && !cache->empty()) {
    return fs::path{*cache} / "cordon/host-facts";
  }
  if (const auto home = context.environment("HOME"); home && !home->empty()) {
    return fs::path{*home} / ".cache/cordon/host-facts";
  }
  return std::nullopt;
}

int abi_now() {
  const auto abi = os::landlock_abi();
  return abi ? *abi : 0;
}

std::optional<HostFacts> remembered(const fs::path& file, const std::string& expected) {
  constexpr std::size_t kMost = 65'536;
  const auto text = os::read_own_file(file.string(), kMost);
  if (!text) return std::nullopt;
  const std::size_t line = text->find('\n');
  if (line == std::string::npos || text->substr(0, line) != expected) return std::nullopt;
  auto facts = host_facts_from(std::string_view{*text}.substr(line + 1));
  // What is cheap to ask is asked again: a fact in the file may not switch the second fence off.
  if (!facts || facts->landlock_abi != abi_now() || facts->root != (os::caller_ids().uid == 0)) {
    return std::nullopt;
  }
  return *std::move(facts);
}

void remember(const fs::path& file, const std::string& key_line, const HostFacts& facts) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const std::string part = fmt::format("{}.{}", file.string(), std::hash<std::string>{}(key_line));
  std::ofstream out{part, std::ios::trunc};
  out << key_line << '\n' << to_text(facts);
  out.close();
  if (!out || std::rename(part.c_str(), file.c_str()) != 0) fs::remove(part, ignored);
}

}  // namespace

HostFacts known_host_facts(const Context& context) {
  const auto file = cache_file(context);
  if (!file) return os::probe_host({});
  const std::string expected = key(context);
  if (auto facts = remembered(*file, expected)) return *std::move(facts);
  HostFacts facts = os::probe_host({});
  remember(*file, expected, facts);
  return facts;
}

HostFacts with_engine(HostFacts host, Isolation isolation, const Context& context) {
  if (isolation == Isolation::process) return host;
  const bool is_machine = isolation == Isolation::microvm;
  const bool is_new = is_machine && build_machine_once(context);
  // One that did not work is tried again: somebody may have mended it.
  const Support known = host[is_machine ? Feature::microvm : Feature::gvisor].support;
  if (!is_new && (known == Support::ok || known == Support::limited)) return host;
  if (is_machine)
    try_machine(host);
  else
    try_gvisor(host);
  if (const auto file = cache_file(context)) remember(*file, key(context), host);
  return host;
}

}  // namespace cordon::cli
