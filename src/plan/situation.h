// SPDX-License-Identifier: Apache-2.0
// What a caller knows and a policy does not say: who calls, where, and what lies in the workspace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "frame/launch_plan.h"

namespace cordon::plan {

enum class PathKind : std::uint8_t { file, directory, link };

// One path that the survey found, as it will be called inside.
struct SurveyedPath {
  std::string path;
  PathKind kind = PathKind::file;
  friend bool operator==(const SurveyedPath&, const SurveyedPath&) = default;
};

// What the trees of survey.h hold. Gathered by the caller; this module makes no system call.
struct Survey {
  std::vector<SurveyedPath> found;
  bool complete = true;  // false: the bound of the walk was reached, so that more may be there
  // Asked where `io_limit` is stated: host paths that the sandbox writes and that lie on no block
  // device of their own, so that no control group can slow them down.
  std::vector<std::string> without_device;
  // Asked where `disk_limit` is stated: bytes that a live workspace takes on its disk. None: it was
  // not asked, or there is more than is counted.
  std::optional<std::uint64_t> workspace_bytes;
  friend bool operator==(const Survey&, const Survey&) = default;
};

// The command as it was typed, so that a refusal can repeat it with one flag more.
struct Typed {
  std::string before = "cordon run";
  std::string after;  // "-- make test"
  friend bool operator==(const Typed&, const Typed&) = default;
};

enum class MonitorSource : std::uint8_t {
  none,     // by nobody: `monitor.record` is not held
  kernel,   // by a program in the kernel, of a node's launcher
  witness,  // by whoever launches, whom the filter tells of calls that intend something
  engine,   // by the sandbox's own kernel, through the relay
  machine,  // by a program in that kernel, where it is a machine's
};

// The root that an image is.
struct ImageRoot {
  std::string path;    // a directory, or where `file` has a digest an EROFS in a file
  std::string digest;  // of the image; empty: nobody knows it
  frame::RootFile file{};
  std::vector<std::string> environment{};  // NAME=value, that it asks for
  // What a sandbox writes to it goes to a layer of its own; false: nothing is written to it.
  bool has_layer = false;
};

struct Situation {
  SandboxId id;
  std::string home;  // the caller's, on the host: what "~" stands for
  std::uint32_t caller_uid = 0;
  std::uint32_t caller_gid = 0;
  std::string caller_name;
  std::optional<std::string> workspace_source;  // host directory; none: an ephemeral workspace
  // Where it appears, for policies that do not say it; none: /workspace.
  std::optional<std::string> workspace_target;
  std::string state_directory;  // of the run, on the host: holds the layer of `review`
  Survey survey;
  std::vector<std::pair<std::string, std::string>> environment;  // the caller's
  // What images stand for, by name; what is used where no document names a root: an image, or where
  // this is empty the host.
  std::map<std::string, ImageRoot> images;
  std::string default_image;
  std::string tenant;  // as the launcher knows it; empty in local use
  bool has_tunnels =
      false;  // who launches it holds `network.ingress`: no port is reached but those
  // Calls of tools pass who launches it, and are judged there: `tools` is held.
  bool has_tool_gate = false;
  MonitorSource monitor = MonitorSource::none;  // by whom what happens inside is seen
  bool drop_network = false;  // the caller gives up whatever network the policy grants
  Typed typed;
};

}  // namespace cordon::plan
