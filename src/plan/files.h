// SPDX-License-Identifier: Apache-2.0
// The tree that a workload sees: root, own directories, workspace, mounts.
#pragma once

#include <string>
#include <vector>

#include "frame/launch_plan.h"
#include "plan/identity.h"
#include "plan/request.h"

namespace cordon::plan {

struct Root {
  frame::RootSource source = frame::RootSource::host;
  std::string path;
  frame::RootFile file{};
  std::string image{};                     // "debian-12 sha256:…"; empty: it is none
  std::vector<std::string> environment{};  // NAME=value, that the image asks for
  bool has_layer = false;                  // what is written to it goes to a layer
};

// As the documents say; where none does, the default image, or the host's programs. Different
// roots, and images that are not there, are refused.
Root root_of(const Request& request);

// What of the plan is about files. `binds` are ordered: the system's trees, then the mounts by
// target.
struct Files {
  std::vector<frame::Bind> binds;
  std::vector<frame::OwnFile> files;
  std::vector<std::string> directories;
  std::vector<std::string> homes;  // in a root with a layer
  frame::Workspace workspace;
  bool writes_to_host = false;  // some host-backed mount is writable
  std::size_t mounts = 0;       // the last so many of `binds` are the policy's
};

Files files_of(const Request& request, const Root& root, const Identity& identity);

}  // namespace cordon::plan
