// SPDX-License-Identifier: Apache-2.0
#include "plan/path_rules.h"

#include <optional>

#include "policy/checked.h"

namespace cordon::plan {
namespace {

using policy::Filesystem;
using policy::PolicyDocument;

frame::RulePlace kept_place(const policy::Place& place) {
  return {.source = place.source, .line = place.mark.line, .column = place.mark.column};
}

frame::PathDocument kept_document(const policy::CheckedDocument& checked) {
  const Filesystem& files = checked.document().filesystem;
  frame::PathDocument out{.origin = static_cast<std::uint8_t>(checked.origin())};
  for (const policy::Source& source : checked.document().sources) {
    out.files.push_back({source.name, static_cast<std::uint8_t>(source.origin)});
  }
  if (files.root) {
    out.root = static_cast<std::uint8_t>(files.root->value.kind);
    out.root_name = files.root->value.name;
    out.root_place = kept_place(files.root->place);
  }
  if (files.workspace) {
    out.workspace = files.workspace->value;
    out.workspace_place = kept_place(files.workspace->place);
  }
  if (files.mode) {
    out.mode = static_cast<std::uint8_t>(files.mode->value);
    out.mode_place = kept_place(files.mode->place);
  }
  for (const policy::HostMount& mount : files.host_mounts.items) {
    out.mounts.push_back({mount.source, mount.target, static_cast<std::uint8_t>(mount.mode),
                          mount.why, kept_place(mount.place)});
  }
  for (const auto& each : files.hide.items) {
    out.hide.push_back({each.value, kept_place(each.place)});
  }
  for (const auto& each : files.protect.items) {
    out.protect.push_back({each.value, kept_place(each.place)});
  }
  return out;
}

template <class T>
Result<T> kept_choice(std::uint8_t value, T last) {
  if (value > static_cast<std::uint8_t>(last)) {
    return Error{Errc::invalid, "rules for files: a choice that does not exist"};
  }
  return static_cast<T>(value);
}

class PathDocumentReader {
 public:
  explicit PathDocumentReader(const frame::PathDocument& from) : from_{from} {}

  Result<PolicyDocument> read() {
    if (from_.files.empty()) return Error{Errc::invalid, "rules for files: no file is named"};
    for (const frame::NetFile& file : from_.files) {
      TRY(const auto origin, kept_choice(file.origin, policy::Origin::workspace));
      document_.sources.push_back({file.name, origin});
    }
    TRY_DO(read_trees());
    TRY_DO(read_patterns(from_.hide, document_.filesystem.hide));
    TRY_DO(read_patterns(from_.protect, document_.filesystem.protect));
    return std::move(document_);
  }

 private:
  Result<policy::Place> place(const frame::RulePlace& at) const {
    if (at.source >= from_.files.size()) {
      return Error{Errc::invalid, "rules for files: one of a file that is not named"};
    }
    return policy::Place{.source = at.source, .mark = {at.line, at.column}};
  }

  Status read_trees() {
    Filesystem& files = document_.filesystem;
    if (from_.root) {
      TRY(const auto kind, kept_choice(*from_.root, policy::RootKind::image));
      TRY(const auto at, place(from_.root_place));
      files.root = policy::Stated<policy::Root>{{kind, from_.root_name}, at};
    }
    if (from_.workspace) {
      TRY(const auto at, place(from_.workspace_place));
      files.workspace = policy::Stated<std::string>{*from_.workspace, at};
    }
    if (from_.mode) {
      TRY(const auto mode, kept_choice(*from_.mode, policy::Mode::read_write));
      TRY(const auto at, place(from_.mode_place));
      files.mode = policy::Stated<policy::Mode>{mode, at};
    }
    for (const frame::PathMount& mount : from_.mounts) {
      policy::HostMount& read = files.host_mounts.items.emplace_back();
      read.source = mount.source;
      read.target = mount.target;
      TRY(read.mode, kept_choice(mount.mode, policy::Mode::read_write));
      read.why = mount.why;
      TRY(read.place, place(mount.place));
    }
    return {};
  }

  Status read_patterns(const std::vector<frame::PathPattern>& from,
                       policy::Listed<policy::Stated<std::string>>& to) const {
    for (const frame::PathPattern& pattern : from) {
      TRY(const auto at, place(pattern.place));
      to.items.push_back({pattern.text, at});
    }
    return {};
  }

  const frame::PathDocument& from_;
  PolicyDocument document_;
};

}  // namespace

std::vector<frame::PathDocument> path_rules_of(const policy::Policy& policy,
                                               const std::string& image) {
  std::vector<frame::PathDocument> documents;
  documents.reserve(policy.documents().size());
  for (const auto& checked : policy.documents()) {
    documents.push_back(kept_document(*checked));
    frame::PathDocument& document = documents.back();
    if (!document.root && !image.empty() && !checked->narrows_only()) {
      document.root = static_cast<std::uint8_t>(policy::RootKind::image);
      document.root_name = image;
    }
  }
  return documents;
}

Result<policy::Policy> path_policy_of(std::span<const frame::PathDocument> documents) {
  std::optional<policy::Policy> whole;
  for (const frame::PathDocument& from : documents) {
    TRY(const auto origin, kept_choice(from.origin, policy::Origin::workspace));
    TRY(PolicyDocument document, PathDocumentReader{from}.read());
    if (origin == policy::Origin::workspace) {
      if (!whole) return Error{Errc::invalid, "rules for files: a workspace file is no policy"};
      TRY(whole, policy::narrow(*whole, std::move(document), {}));
      continue;
    }
    TRY(policy::Policy checked, policy::check(std::move(document), origin, {}));
    whole = whole ? policy::attenuate(*whole, checked) : std::move(checked);
  }
  if (!whole) return Error{Errc::invalid, "rules for files: there are none"};
  return *std::move(whole);
}

}  // namespace cordon::plan
