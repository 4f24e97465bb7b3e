// SPDX-License-Identifier: Apache-2.0
// Reading a floor: a table of keys, each with the function that takes its value.
#include "launcher/floor_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "launcher/file_digest.h"
#include "os/own_directory.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kMostFile = 65'536;
constexpr std::size_t kMostSources = 256;
constexpr std::size_t kMostSecretSources = 256;
constexpr std::size_t kLongestSecretSource = 4096;
constexpr std::uint32_t kMostAhead = 256;
constexpr std::uint64_t kLastId = 0xffff'0000U;  // the ids above hold 0xffffffff, which is no id

Error broken(std::string rule) { return Error{Errc::invalid, std::move(rule)}; }

Result<std::uint32_t> number(std::string_view value) {
  std::uint32_t parsed = 0;
  const char* const first = value.data();
  const char* const last = first + value.size();
  const auto [end, error] = std::from_chars(first, last, parsed);
  if (error != std::errc{} || end != last) {
    return broken(fmt::format("\"{}\" is no decimal number below 4294967296", value));
  }
  return parsed;
}

Result<unsigned> ahead(std::string_view value) {
  TRY(const std::uint32_t count, number(value));
  if (count > kMostAhead) return broken(fmt::format("more than {} ahead", kMostAhead));
  return count;
}

Result<bool> truth(std::string_view value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return broken(fmt::format("\"{}\" is neither true nor false", value));
}

Result<std::string> plain_path(std::string_view value, std::string_view wanted) {
  if (!is_plain_path(value) || value == "/") {
    return broken(fmt::format("\"{}\" is no {}", value, wanted));
  }
  return std::string{value};
}

Status take_node_uid(ServiceFloor& floor, std::string_view value) {
  TRY(floor.node_uid, number(value));
  return {};
}

Status take_node_gid(ServiceFloor& floor, std::string_view value) {
  TRY(floor.node_gid, number(value));
  return {};
}

Status take_first_id(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.first_id, number(value));
  if (floor.floor.first_id < kRange) return broken("ids below 65536 are the host's own");
  // Ranges of launchers with other floors then never overlap in part.
  if (floor.floor.first_id % kRange != 0) return broken("first_id is no multiple of 65536");
  return {};
}

Status take_ranges(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.ranges, number(value));
  if (floor.floor.ranges == 0) return broken("without a range no sandbox can have ids");
  return {};
}

Status take_source(ServiceFloor& floor, std::string_view value) {
  if (!is_plain_path(value)) {
    return broken(
        fmt::format("\"{}\" is no absolute path without \".\", \"..\" and \"//\"", value));
  }
  if (value == "/") return broken("a floor of \"/\" is none: name directories");
  auto& sources = floor.floor.sources;
  if (std::ranges::find(sources, value) != sources.end())
    return broken("the source is there twice");
  if (sources.size() == kMostSources) {
    return broken(fmt::format("more than {} sources", kMostSources));
  }
  sources.emplace_back(value);
  return {};
}

Status take_cgroup(ServiceFloor& floor, std::string_view value) {
  if (!is_plain_path(fmt::format("/{}", value))) {
    return broken(fmt::format("\"{}\" is no path below the launcher's own group", value));
  }
  floor.cgroup = value;
  return {};
}

Status take_notary(ServiceFloor& floor, std::string_view value) {
  TRY(floor.notary, plain_path(value, "path of a directory for the notary"));
  return {};
}

Status take_image_store(ServiceFloor& floor, std::string_view value) {
  TRY(floor.image_store, plain_path(value, "path of a directory of images"));
  return {};
}

Status take_isolation(ServiceFloor& floor, std::string_view value) {
  if (value == "process")
    floor.floor.least_engine = frame::Engine::none;
  else if (value == "gvisor")
    floor.floor.least_engine = frame::Engine::gvisor;
  else if (value == "microvm")
    floor.floor.least_engine = frame::Engine::machine;
  else
    return broken("isolation is process, gvisor or microvm");
  return {};
}

Status take_qemu(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.qemu, plain_path(value, "path of a QEMU"));
  return {};
}

Status take_machine(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.machine, plain_path(value, "directory of a machine's kernel"));
  return {};
}

Status take_runsc(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.runsc, plain_path(value, "path of a runsc"));
  return {};
}

// "sha256:… /usr/bin/runsc"
Status take_pin(ServiceFloor& floor, std::string_view value) {
  const std::size_t space = value.find(' ');
  const std::string_view digest = value.substr(0, space);
  const std::size_t path =
      space == std::string_view::npos ? space : value.find_first_not_of(' ', space);
  if (path == std::string_view::npos || !is_digest(digest)) {
    return broken("pin is \"sha256:DIGEST PATH\", the digest 64 digits of 0-9 and a-f");
  }
  TRY(std::string name, plain_path(value.substr(path), "path of a file"));
  if (!floor.floor.pins.emplace(std::move(name), digest).second) {
    return broken("the file is pinned twice");
  }
  return {};
}

Status take_secrets(ServiceFloor& floor, std::string_view value) {
  TRY(floor.secrets, plain_path(value, "path of a directory for secrets"));
  return {};
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_secret_source(std::string_view source) {
  if (source.size() > kLongestSecretSource) return false;
  if (source.starts_with("env:")) return is_variable_name(source.substr(4));
  if (source.starts_with("file:")) return is_plain_path(source.substr(5));
  return source.starts_with("cmd:") && source.size() > 4;
}

bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

// "api.github.com file:/etc/cordon/token": a name, and what may be read for it.
Status take_secret_source(ServiceFloor& floor, std::string_view value) {
  const std::size_t space = value.find(' ');
  const std::string_view host = value.substr(0, space);
  const std::string_view source = space == std::string_view::npos
                                      ? std::string_view{}
                                      : value.substr(value.find_first_not_of(' ', space));
  if (!is_host_name(host) || !is_secret_source(source)) {
    return broken(
        "secret_source is \"HOST env:NAME\", \"HOST file:/PATH\" or \"HOST cmd:COMMAND\", the host "
        "a name in lower case");
  }
  auto& all = floor.secret_sources.all;
  SecretSource named{std::string{host}, std::string{source}};
  if (std::ranges::find(all, named) != all.end()) return broken("the secret_source is there twice");
  if (all.size() == kMostSecretSources) {
    return broken(fmt::format("more than {} sources of secrets", kMostSecretSources));
  }
  all.push_back(std::move(named));
  return {};
}

Status take_secret_source_uid(ServiceFloor& floor, std::string_view value) {
  TRY(floor.secret_sources.uid, number(value));
  if (floor.secret_sources.uid == 0) return broken("secret_source_uid is a user's, not root's");
  return {};
}

Status take_writable_binds(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.writable_binds, truth(value));
  return {};
}

Status take_disk_images(ServiceFloor& floor, std::string_view value) {
  TRY(floor.floor.disk_images, truth(value));
  return {};
}

Status take_monitor(ServiceFloor& floor, std::string_view value) {
  TRY(floor.monitor, truth(value));
  return {};
}

Status take_networks_ahead(ServiceFloor& floor, std::string_view value) {
  TRY(floor.networks_ahead, ahead(value));
  return {};
}

Status take_groups_ahead(ServiceFloor& floor, std::string_view value) {
  TRY(floor.groups_ahead, ahead(value));
  return {};
}

Status take_sandboxes_ahead(ServiceFloor& floor, std::string_view value) {
  TRY(floor.sandboxes_ahead, ahead(value));
  return {};
}

Status take_engines_ahead(ServiceFloor& floor, std::string_view value) {
  TRY(floor.engines_ahead, ahead(value));
  return {};
}

struct Key {
  std::string_view name;
  Status (*take)(ServiceFloor& floor, std::string_view value);
  bool required = false;
  bool repeatable = false;
};

constexpr std::array kKeys = {
    Key{"node_uid", take_node_uid, true},
    Key{"node_gid", take_node_gid},
    Key{"first_id", take_first_id, true},
    Key{"ranges", take_ranges, true},
    Key{"source", take_source, true, true},
    Key{"cgroup", take_cgroup},
    Key{"isolation", take_isolation},
    Key{"runsc", take_runsc},
    Key{"qemu", take_qemu},
    Key{"machine", take_machine},
    Key{"pin", take_pin, false, true},
    Key{"secrets", take_secrets},
    Key{"notary", take_notary},
    Key{"image_store", take_image_store},
    Key{"secret_source", take_secret_source, false, true},
    Key{"secret_source_uid", take_secret_source_uid},
    Key{"writable_binds", take_writable_binds},
    Key{"disk_images", take_disk_images},
    Key{"monitor", take_monitor},
    Key{"networks_ahead", take_networks_ahead},
    Key{"groups_ahead", take_groups_ahead},
    Key{"sandboxes_ahead", take_sandboxes_ahead},
    Key{"engines_ahead", take_engines_ahead},
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

class Parser {
 public:
  Status take_line(std::string_view line);
  Result<ServiceFloor> finish() &&;

 private:
  ServiceFloor floor_{.floor = {.writable_binds = false}};
  std::array<bool, kKeys.size()> seen_{};
};

Status Parser::take_line(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return {};
  const bool printable = std::ranges::all_of(line, [](char c) { return c >= ' ' && c != '\x7f'; });
  if (!printable) return broken("a character that is none of text");
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return broken("a line is \"key = value\"");
  const std::string_view name = trimmed(line.substr(0, equals));
  const std::string_view value = trimmed(line.substr(equals + 1));
  const auto* const key = std::ranges::find(kKeys, name, &Key::name);
  if (key == kKeys.end()) return broken(fmt::format("unknown key \"{}\"", name));
  bool& seen = seen_[static_cast<std::size_t>(key - kKeys.begin())];
  if (seen && !key->repeatable) return broken(fmt::format("{} is there twice", name));
  seen = true;
  if (value.empty()) return broken(fmt::format("{} has no value", name));
  return key->take(floor_, value);
}

// One that is never looked at would pin nothing.
Status check_pins(const Floor& floor) {
  for (const auto& [path, digest] : floor.pins) {
    const bool is_of_machine = !floor.machine.empty() && (path == floor.machine + kMachineKernel ||
                                                          path == floor.machine + kMachineFiles);
    if (is_of_machine || path == floor.runsc || path == floor.qemu) continue;
    return broken(
        fmt::format("pin: {} is neither the runsc nor the qemu of this floor, nor the "
                    "{} or {} of its machine",
                    path, kMachineKernel + 1, kMachineFiles + 1));
  }
  return {};
}

Result<ServiceFloor> Parser::finish() && {
  for (std::size_t at = 0; at < kKeys.size(); ++at) {
    if (kKeys[at].required && !seen_[at])
      return broken(fmt::format("{} is missing", kKeys[at].name));
  }
  const Floor& floor = floor_.floor;
  const std::uint64_t end = floor.first_id + std::uint64_t{floor.ranges} * kRange;
  if (end > kLastId) return broken("the ranges reach beyond the last id");
  if (floor_.node_uid >= floor.first_id && floor_.node_uid < end) {
    return broken("node_uid lies in the ranges of the sandboxes");
  }
  const auto& [sources, uid] = floor_.secret_sources;
  if (!sources.empty() && uid == 0) {
    return broken("secret_source_uid is missing: who may read what secret_source names?");
  }
  if (uid == floor_.node_uid && uid != 0) {
    return broken("secret_source_uid is the node's: it could read the secrets itself");
  }
  if (uid >= floor.first_id && uid < end) {
    return broken("secret_source_uid lies in the ranges of the sandboxes");
  }
  TRY_DO(check_pins(floor));
  return std::move(floor_);
}

}  // namespace

Result<ServiceFloor> parse_floor(std::string_view text, std::string_view file) {
  Parser parser;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    Status taken = parser.take_line(text.substr(0, end));
    if (!taken) return std::move(taken).error().with(fmt::format("{}:{}", file, number));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  auto floor = std::move(parser).finish();
  if (!floor) return std::move(floor).error().with(file);
  return floor;
}

Result<ServiceFloor> read_floor(const std::string& path) {
  if (!is_plain_path(path)) return Error{Errc::invalid, path + ": not an absolute plain path"};
  const std::size_t slash = path.rfind('/');
  TRY(const os::Fd directory, os::open_guarded_directory(path.substr(0, slash)));
  auto text = os::read_own_file(directory, path.substr(slash + 1), kMostFile);
  if (!text) return std::move(text).error().with(path);
  return parse_floor(*text, path);
}

}  // namespace cordon::launcher
