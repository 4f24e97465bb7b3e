// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <charconv>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/run_words.h"

namespace cordon::cli {
namespace {

// A TOML basic string: whatever bytes a path has, they end neither the string nor the line.
std::string toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(byte));
    } else {
      quoted += c;
    }
  }
  return quoted += '"';
}

std::string toml_list(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) {
    if (!list.empty()) list += ", ";
    list += toml(item);
  }
  return "[" + list + "]";
}

std::string absolute(const std::string& path, const std::string& directory) {
  if (path.starts_with("~")) return path;
  const std::filesystem::path whole =
      path.starts_with('/') ? std::filesystem::path{path} : std::filesystem::path{directory} / path;
  std::error_code error;
  const auto real = std::filesystem::canonical(whole, error);
  std::string text = error ? whole.lexically_normal().string() : real.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// "2G" as people type it is the policy's "2Gi".
std::string size_text(std::string text) {
  if (!text.empty() && (text.back() == 'B' || text.back() == 'b')) text.pop_back();
  if (!text.empty() && std::string_view{"kKmMgGtT"}.find(text.back()) != std::string_view::npos) {
    text.back() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
    text += 'i';
  }
  return text;
}

class Writer {
 public:
  void section(const char* name) { pending_ = fmt::format("[{}]\n", name); }
  void line(const std::string& text) {
    text_ += std::exchange(pending_, {});
    text_ += text;
    text_ += '\n';
  }
  void text(const char* key, const std::string& value) {
    if (!value.empty()) line(fmt::format("{} = {}", key, toml(value)));
  }
  void size(const char* key, const std::string& value) {
    if (!value.empty()) text(key, size_text(value));
  }
  // Bare where it is a number, so that the policy's own message speaks about what was typed.
  void number(const char* key, const std::string& value) {
    if (value.empty()) return;
    const bool digits = value.find_first_not_of("0123456789") == std::string::npos;
    line(fmt::format("{} = {}", key, digits ? value : toml(value)));
  }
  void list(const char* key, const std::vector<std::string>& items) {
    if (!items.empty()) line(fmt::format("{} = {}", key, toml_list(items)));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string pending_;
};

std::string mounts(const RunOptions& options, const std::string& directory) {
  std::string list;
  const auto add = [&](const std::string& path, const char* mode) {
    const std::string source = absolute(path, directory);
    if (!list.empty()) list += ", ";
    list += fmt::format("{{ source = {0}, target = {0}, mode = \"{1}\", why = \"a flag\" }}",
                        toml(source), mode);
  };
  for (const std::string& path : options.allow_read) add(path, "read_only");
  for (const std::string& path : options.allow_write) add(path, "read_write");
  return list.empty() ? list : "[" + list + "]";
}

void write_filesystem(Writer& out, const RunOptions& options, const std::string& directory) {
  out.section("filesystem");
  if (options.root.starts_with("dir:")) {
    out.text("root", "dir:" + absolute(options.root.substr(4), directory));
  } else {
    out.text("root", options.root);
  }
  if (options.read_only) {
    out.text("mode", "read_only");
  } else if (options.policy.empty() && options.preset.empty()) {
    out.text("mode", "read_write");
  }
  if (options.review) out.line("review = true");
  if (options.live) out.line("review = false");
  out.list("hide", options.hide);
  out.list("protect", options.protect);
  if (const std::string list = mounts(options, directory); !list.empty()) {
    out.line("host_mounts = " + list);
  }
}

void write_environment(Writer& out, const RunOptions& options) {
  std::vector<std::string> pass;
  std::string set;
  for (const std::string& variable : options.environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) {
      pass.push_back(variable);
      continue;
    }
    if (!set.empty()) set += ", ";
    set += toml(variable.substr(0, equals)) + " = " + toml(variable.substr(equals + 1));
  }
  if (pass.empty() && set.empty()) return;
  out.section("environment");
  if (!pass.empty() && options.policy.empty() && options.preset.empty()) {
    // A list that is stated replaces the default: keep it beside what the flags add.
    pass.insert(pass.begin(), {"LANG", "LC_*", "TERM", "TZ"});
  }
  out.list("pass", pass);
  if (!set.empty()) out.line("set = { " + set + " }");
}

// "HOST:PORT" as the policy takes it; a port that says nothing about its protocol is passed as it
// is.
std::string net_rule(const std::string& typed) {
  const std::size_t colon = typed.rfind(':');
  const std::string port = colon == std::string::npos ? "" : typed.substr(colon + 1);
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || port == "443" || port == "80") return toml(typed);
  return fmt::format("{{ host = {}, port = {}, protocol = \"tcp\", why = \"a flag\" }}",
                     toml(typed.substr(0, colon)), port);
}

void write_network(Writer& out, const RunOptions& options) {
  out.section("network");
  if (options.public_network) out.text("mode", "public");
  std::vector<std::string> rules;
  rules.reserve(options.allow_net.size());
  for (const std::string& typed : options.allow_net) rules.push_back(net_rule(typed));
  if (!rules.empty()) out.line(fmt::format("egress_allowlist = [{}]", fmt::join(rules, ", ")));
  if (!options.host_ports.empty()) {
    out.line(fmt::format("host_ports = [{}]", fmt::join(options.host_ports, ", ")));
  }
}

}  // namespace

Result<std::uint64_t> parse_duration(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  const std::uint64_t factor = unit.empty() || unit == "s" ? 1
                               : unit == "m"               ? 60
                               : unit == "h"               ? 3600
                               : unit == "d"               ? 86400
                                                           : 0;
  if (error != std::errc{} || factor == 0 || value == 0 || value > 31'536'000 / factor) {
    return Error{Errc::invalid,
                 fmt::format("a time of `{}`: expected like 90s, 10m or 2h, at most a year", text)};
  }
  return value * factor;
}

Result<std::string> policy_of_flags(const RunOptions& options, const std::string& directory) {
  Writer out;
  out.line("version = 1");
  out.text("isolation", options.isolation);
  if (!options.preset.empty()) out.list("extends", {options.preset});
  write_filesystem(out, options, directory);
  write_environment(out, options);
  write_network(out, options);
  out.section("process");
  out.text("user", options.user);
  out.section("syscalls");
  out.text("profile", options.profile);
  out.section("resources");
  out.number("cpu_limit", options.cpus);
  out.size("memory_limit", options.memory);
  out.number("pids_limit", options.pids);
  out.size("disk_limit", options.disk);
  out.number("inodes_limit", options.inodes);
  out.number("open_files", options.open_files);
  out.size("io_limit", options.io);
  out.size("output_limit", options.output);
  if (!options.time.empty()) {
    TRY(const std::uint64_t seconds, parse_duration(options.time));
    out.line(fmt::format("timeout_seconds = {}", seconds));
  }
  if (!options.cpu_time.empty()) {
    TRY(const std::uint64_t seconds, parse_duration(options.cpu_time));
    out.line(fmt::format("cpu_seconds = {}", seconds));
  }
  return out.take();
}

std::string typed_flags(const RunOptions& options) {
  std::vector<std::string> words{"cordon"};
  words.insert(words.end(), options.verb.begin(), options.verb.end());
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  const auto add_all = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(flag, value);
  };
  const auto add_set = [&](const char* flag, bool set) {
    if (set) words.emplace_back(flag);
  };
  add("--policy", options.policy);
  add("--preset", options.preset);
  add("--workspace", options.workspace);
  add_all("--allow-read", options.allow_read);
  add_all("--allow-write", options.allow_write);
  add_all("--allow-net", options.allow_net);
  add_all("--host-port", options.host_ports);
  add_all("--hide", options.hide);
  add_all("--protect", options.protect);
  add_all("--env", options.environment);
  add("--memory", options.memory);
  add("--cpus", options.cpus);
  add("--pids", options.pids);
  add("--time", options.time);
  add("--cpu-time", options.cpu_time);
  add("--disk", options.disk);
  add("--inodes", options.inodes);
  add("--open-files", options.open_files);
  add("--io", options.io);
  add("--output", options.output);
  add("--root", options.root);
  add("--user", options.user);
  add("--profile", options.profile);
  add("--isolation", options.isolation);
  add("--require", options.require);
  add("--json", options.json);
  add_set("--review", options.review);
  add_set("--live", options.live);
  add_set("--read-only", options.read_only);
  add_set("--public-network", options.public_network);
  add_set("--no-network", options.no_network);
  add_set("--no-monitor", options.no_monitor);
  add_set("--raw", options.raw);
  add_set("--quiet", options.quiet);
  return spelled(words);
}

void add_run_flags(CLI::App& verb, RunOptions& options) {
  // Of a flag that is typed twice the last counts: whoever repeats a command adds at its end.
  const auto one = [&](const char* name, std::string& value, const char* meaning) {
    return verb.add_option(name, value, meaning)->take_last();
  };
  one("--policy", options.policy, "A policy file (TOML or JSON)");
  one("--preset,-p", options.preset, "Start from this preset (cordon policy show)");
  one("--workspace", options.workspace, "The directory to work in; the current one by default");
  verb.add_option("--allow-read", options.allow_read, "Show this file or directory, read-only");
  verb.add_option("--allow-write", options.allow_write, "Show this file or directory, writable");
  verb.add_option("--allow-net", options.allow_net,
                  "Let it reach HOST (443), HOST:PORT, *.HOST or a registry such as @npm");
  verb.add_option("--host-port", options.host_ports,
                  "Let it reach this port of the host as host.cordon.internal")
      ->check(CLI::Range(1, 65535));
  verb.add_option("--hide", options.hide, "Names in the workspace that must not be seen");
  verb.add_option("--protect", options.protect, "Names in the workspace that must not be written");
  verb.add_option("--env", options.environment, "Pass NAME of the caller, or set NAME=VALUE");
  one("--memory", options.memory, "Memory limit, like 256M or 2G");
  one("--cpus", options.cpus, "Processors, like 2 or 0.5");
  one("--pids", options.pids, "Processes and threads");
  one("--time", options.time, "Wall time, like 90s, 10m or 2h");
  one("--cpu-time", options.cpu_time, "Processor time, like 90s or 10m");
  one("--disk", options.disk, "Bytes of the sandbox's own disk, like 512M");
  one("--inodes", options.inodes, "Files on the sandbox's own disk");
  one("--open-files", options.open_files, "Open files of a process");
  one("--io", options.io, "Bytes a second to and from disk");
  one("--output", options.output, "Bytes of output, like 16M");
  one("--root", options.root, "The system tree: host, or dir:PATH");
  one("--user", options.user, "Who it is inside: user or root");
  one("--profile", options.profile, "System calls: strict or compat");
  one("--isolation", options.isolation, "The wall: process, or the stronger gvisor or microvm");
  one("--require", options.require, "Refuse to start below this level")
      ->check(CLI::IsMember({"full", "supervised"}));
  one("--json", options.json, "Write the report of the run to this file");
  verb.add_flag("--review", options.review, "Writes wait for `cordon apply`");
  verb.add_flag("--live", options.live, "Writes go straight to the workspace");
  verb.add_flag("--read-only", options.read_only, "The workspace cannot be written");
  verb.add_flag("--public-network", options.public_network,
                "Let it reach every public address on ports 443 and 80");
  verb.add_flag("--no-monitor", options.no_monitor,
                "Nobody is told what happens inside: refused writes are not explained");
  verb.add_flag("--no-network", options.no_network,
                "Run without the network that the policy grants");
  verb.add_flag("--raw", options.raw, "Let all bytes of the program reach the terminal");
  verb.add_flag("--quiet,-q", options.quiet, "Say nothing but refusals and failures");
}

}  // namespace cordon::cli
