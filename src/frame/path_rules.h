// SPDX-License-Identifier: Apache-2.0
// What a policy says of files, document by document, as it is kept beside a plan: what was refused
// is judged by it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/egress.h"
#include "frame/fields.h"

namespace cordon::frame {

struct PathPattern {
  std::string text;
  RulePlace place;
  CORDON_FIELDS(PathPattern, self.text, self.place);
};

struct PathMount {
  std::string source;
  std::string target;
  std::uint8_t mode = 0;  // of policy::Mode
  std::string why;
  RulePlace place;
  CORDON_FIELDS(PathMount, self.source, self.target, self.mode, self.why, self.place);
};

struct PathDocument {
  std::uint8_t origin = 0;           // of policy::Origin
  std::vector<NetFile> files;        // the first is the document's own
  std::optional<std::uint8_t> root;  // of policy::RootKind
  std::string root_name;
  RulePlace root_place;
  std::optional<std::string> workspace;
  RulePlace workspace_place;
  std::optional<std::uint8_t> mode;  // of policy::Mode
  RulePlace mode_place;
  std::vector<PathMount> mounts;
  std::vector<PathPattern> hide;
  std::vector<PathPattern> protect;
  CORDON_FIELDS(PathDocument, self.origin, self.files, self.root, self.root_name, self.root_place,
                self.workspace, self.workspace_place, self.mode, self.mode_place, self.mounts,
                self.hide, self.protect);
};

}  // namespace cordon::frame
