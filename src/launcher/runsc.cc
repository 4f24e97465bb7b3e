// SPDX-License-Identifier: Apache-2.0
#include "launcher/runsc.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/engine_trace.h"

namespace cordon::launcher {
namespace {

// It takes over the links of a namespace that is named, and of none otherwise: the one it is in.
constexpr std::string_view kOwnNetwork = R"(,{"type":"network","path":"/proc/self/ns/net"})";

// Where memory is at its limit its kernel is to end, and everything with it: of a process in which
// it runs programs it would wait for an answer for ever. It is raised when those have been started.
constexpr std::string_view kFirstToEnd = R"("oomScoreAdj":1000,)";

// Of a JSON string. What is no UTF-8 is changed by who reads it, and then nothing is found there.
std::string json_text(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> kNames = {{
    {0, "CAP_CHOWN"},
    {1, "CAP_DAC_OVERRIDE"},
    {3, "CAP_FOWNER"},
    {4, "CAP_FSETID"},
    {5, "CAP_KILL"},
    {6, "CAP_SETGID"},
    {7, "CAP_SETUID"},
    {10, "CAP_NET_BIND_SERVICE"},
}};

std::string capability_list(const std::vector<std::uint32_t>& kept) {
  std::vector<std::string> names;
  for (const auto& [number, name] : kNames) {
    if (std::ranges::find(kept, number) != kept.end()) names.push_back(json_text(name));
  }
  return fmt::format("[{}]", fmt::join(names, ","));
}

// A mount of its own: runsc would lay a file system of its own over an empty /tmp, without a limit,
// and what is mounted so is looked up on the host each time, as a live workspace needs it.
std::string shown(std::string_view path) {
  return fmt::format(R"({{"destination":{},"type":"bind","source":{},"options":["rbind"]}})",
                     json_text(path), json_text(fmt::format("{}{}", kSandboxTree, path)));
}

std::string mount_list(const frame::LaunchPlan& plan) {
  std::vector<std::string> paths{plan.directories};
  paths.push_back(plan.workspace.target);
  std::ranges::sort(paths);  // parents first
  std::vector<std::string> mounts{R"({"destination":"/proc","type":"proc","source":"proc"})",
                                  R"({"destination":"/dev","type":"tmpfs","source":"tmpfs"})"};
  for (const std::string& path : paths) mounts.push_back(shown(path));
  return fmt::format("[{}]", fmt::join(mounts, ","));
}

}  // namespace

std::string_view word_of(frame::Platform platform) noexcept {
  return platform == frame::Platform::systrap ? "systrap" : "ptrace";
}

std::vector<std::string> runsc_arguments(const frame::LaunchPlan& plan) {
  std::vector<std::string> words{
      "runsc",
      "--root=/run/runsc",
      fmt::format("--platform={}", word_of(plan.platform)),
      plan.network ? "--network=sandbox" : "--network=none",
      "--ignore-cgroups",  // the launcher has placed it
      "--host-uds=none",
      "--host-fifo=none",
      "--net-raw=false",
      "--overlay2=none",  // what may be written lies on the sandbox's own disk
  };
  // Its kernel would open the tree's files itself: then a workload that took it over could as well.
  if (plan.platform != frame::Platform::old_ptrace) words.emplace_back("--directfs=false");
  // One id is all that there is to map: its parts then share it.
  if (plan.ids == frame::Ids::caller) words.emplace_back("--rootless");
  if (plan.traced) words.push_back(fmt::format("--pod-init-config={}", kTraceSession));
  words.insert(words.end(), {"run", fmt::format("--bundle={}", kBundle), plan.id});
  return words;
}

std::string runsc_bundle(const frame::LaunchPlan& plan) {
  // Pid 1 needs the first three for its spawners; a workload has what is granted, and the bounding
  // set lets no exec have more.
  const std::vector<std::uint32_t>& granted = plan.setup.fences.capabilities;
  std::vector<std::uint32_t> kept{7, 6, 5};
  kept.insert(kept.end(), granted.begin(), granted.end());
  // Its exec leaves these to root alone, since it has no ambient set: so pid 1 begins as that.
  const bool one_id = plan.ids == frame::Ids::caller;
  const std::uint32_t id = one_id ? plan.setup.fences.uid : 0;
  return fmt::format(
      R"({{"ociVersion":"1.0.2","hostname":{0},"root":{{"path":"{1}","readonly":false}},)"
      R"("process":{{"user":{{"uid":{2},"gid":{2}}},"args":["{3}","{8}"],"cwd":"/","env":[],)"
      R"("noNewPrivileges":true,{9}"capabilities":{{"bounding":{7},"effective":{4},"permitted":{4},)"
      R"("inheritable":{4},"ambient":{4}}}}},"mounts":{5},)"
      R"("linux":{{"namespaces":[{{"type":"pid"}},{{"type":"ipc"}},{{"type":"uts"}},)"
      R"({{"type":"mount"}}{6}]}}}})",
      json_text(plan.host_name), kSandboxTree, id, kInitPlace, capability_list(kept),
      mount_list(plan), plan.network ? kOwnNetwork : "", capability_list(granted),
      one_id ? "stdio" : "stdio-as-root",
      plan.platform == frame::Platform::systrap ? kFirstToEnd : "");
}

}  // namespace cordon::launcher
