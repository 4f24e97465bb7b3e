// SPDX-License-Identifier: Apache-2.0
#include "cli/host_cache.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/caller.h"
#include "os/landlock.h"
#include "os/own_directory.h"
#include "os/probe_host.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "cordon host facts 1";

std::string text_of(const fs::path& path) {
  const std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Whatever else would make a fact another: all of it in one line.
std::string key() {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const auto written = fs::last_write_time(self, ignored).time_since_epoch().count();
  std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  std::string groups = text_of("/proc/self/cgroup");
  std::string release = text_of("/proc/sys/kernel/osrelease");
  std::string status = text_of("/proc/self/status");
  const std::size_t seccomp = status.find("Seccomp:");
  const std::size_t caps = status.find("CapEff:");
  std::string line = fmt::format("{} {} {} {} {} {} {} {}", boot, release, self.string(), written,
                                 fs::file_size(self, ignored), os::caller_ids().uid,
                                 std::hash<std::string>{}(groups),
                                 status.substr(std::min(caps, status.size()), 24) +
                                     status.substr(std::min(seccomp, status.size()), 12));
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
  auto facts = parse_cache_text(std::string_view{*text}.substr(line + 1));
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
  out << key_line << '\n' << to_cache_text(facts);
  out.close();
  if (!out || std::rename(part.c_str(), file.c_str()) != 0) std::remove(part.c_str());
}

template <class Enum>
std::optional<Enum> from_number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return static_cast<Enum>(value);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

std::string to_cache_text(const HostFacts& facts) {
  std::string text = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", kMark, one_line(facts.kernel), one_line(facts.machine),
      one_line(facts.system), facts.root ? 1 : 0, facts.landlock_abi,
      static_cast<unsigned>(facts.cgroup_layout), fmt::join(facts.controllers, " "));
  for (const Fact& fact : facts.facts) {
    text += fmt::format("{}\t{}\t{}\n", static_cast<unsigned>(fact.support), one_line(fact.detail),
                        one_line(fact.remedy));
  }
  return text;
}

Result<HostFacts> parse_cache_text(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  const Error broken{Errc::invalid, "no cache of host facts"};
  if (lines.size() != 8 + kFeatureCount || lines[0] != kMark) return broken;
  HostFacts facts;
  facts.kernel = lines[1];
  facts.machine = lines[2];
  facts.system = lines[3];
  facts.root = lines[4] == "1";
  const auto abi = from_number<int>(lines[5], 1000);
  const auto layout = from_number<CgroupLayout>(lines[6], static_cast<unsigned>(CgroupLayout::v2));
  if (!abi || !layout) return broken;
  facts.landlock_abi = *abi;
  facts.cgroup_layout = *layout;
  std::istringstream controllers{lines[7]};
  facts.controllers.assign(std::istream_iterator<std::string>{controllers}, {});
  for (std::size_t index = 0; index < kFeatureCount; ++index) {
    const std::string& line = lines[8 + index];
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) return broken;
    const auto support = from_number<Support>(std::string_view{line}.substr(0, first),
                                              static_cast<unsigned>(Support::absent));
    if (!support) return broken;
    facts.facts[index] = {*support, line.substr(first + 1, second - first - 1),
                          line.substr(second + 1)};
  }
  return facts;
}

HostFacts known_host_facts(const Context& context) {
  const auto file = cache_file(context);
  if (!file) return os::probe_host({});
  const std::string expected = key();
  if (auto facts = remembered(*file, expected)) return *std::move(facts);
  HostFacts facts = os::probe_host({});
  remember(*file, expected, facts);
  return facts;
}

}  // namespace cordon::cli
