// SPDX-License-Identifier: Apache-2.0
#include "node/survey.h"

#include <fcntl.h>

#include "node/tree_size.h"
#include "os/block_device.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/openat2.h"
#include "plan/survey.h"

namespace cordon::node {
namespace {

plan::PathKind kind_of(os::FileType type) {
  if (type == os::FileType::directory) return plan::PathKind::directory;
  return type == os::FileType::symlink ? plan::PathKind::link : plan::PathKind::file;
}

std::string join(std::string_view tree, std::string_view name) {
  std::string path{tree};
  if (path != "/") path += '/';
  return path += name;
}

class Surveyor {
 public:
  Surveyor(const policy::Policy& policy, std::string workspace)
      : policy_{policy}, workspace_{std::move(workspace)} {}

  Status look(const plan::SurveyTree& tree);
  plan::Survey take() { return std::move(survey_); }

 private:
  struct Level {
    std::string path;  // on the host, relative to the tree
    std::string inside;
    plan::Cover cover = plan::Cover::none;
  };

  Status look_up(const os::Fd& root, const plan::SurveyTree& tree, const std::string& name);
  void walk(const os::Fd& root, const plan::SurveyTree& tree);
  void walk_level(const os::Fd& root, const Level& level, std::vector<Level>& queue);
  void report(std::string path, os::FileType type) {
    survey_.found.push_back({std::move(path), kind_of(type)});
  }

  const policy::Policy& policy_;
  std::string workspace_;
  plan::Survey survey_;
  std::size_t seen_ = 0;
};

Status Surveyor::look_up(const os::Fd& root, const plan::SurveyTree& tree,
                         const std::string& name) {
  TRY(os::Fd at, os::duplicate(root));
  std::string path = tree.target;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    path = join(path, part);
    const auto status = os::statx(at, part.c_str());
    if (!status) {
      if (status.error().code() == Errc::not_found) return {};
      return status.error();
    }
    if (end == name.size() || status->type != os::FileType::directory) {
      report(path, status->type);
      return {};
    }
    TRY(at, os::open_beneath(at, part.c_str(),
                             {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused}));
    begin = end + 1;
  }
  return {};
}

void Surveyor::walk_level(const os::Fd& root, const Level& level, std::vector<Level>& queue) {
  const auto dir = os::open_beneath(
      root, level.path.empty() ? "." : level.path.c_str(),
      {.flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK, .symlinks = os::Symlinks::refused});
  const auto names = dir ? os::list_directory(*dir, plan::kMostSurveyed)
                         : Result<std::vector<std::string>>{dir.error()};
  if (!names) {
    // The sandbox cannot look there either, unless a right of the caller's stops us by chance.
    survey_.complete = survey_.complete && names.error().code() == Errc::denied;
    return;
  }
  for (const std::string& name : *names) {
    if (++seen_ > plan::kMostSurveyed) {
      survey_.complete = false;
      return;
    }
    const std::string inside = join(level.inside, name);
    const auto status = os::statx(*dir, name.c_str());
    if (!status) continue;
    const plan::Cover cover = plan::cover_of(policy_, inside, workspace_);
    if (cover != plan::Cover::none && cover != level.cover) report(inside, status->type);
    if (status->type == os::FileType::directory && cover != plan::Cover::hide) {
      queue.push_back({level.path.empty() ? name : join(level.path, name), inside, cover});
    }
  }
}

void Surveyor::walk(const os::Fd& root, const plan::SurveyTree& tree) {
  std::vector<Level> queue{{.path = {}, .inside = tree.target}};
  for (std::size_t next = 0; next < queue.size() && survey_.complete; ++next) {
    const Level level = queue[next];  // a copy: the queue grows
    walk_level(root, level, queue);
  }
}

Status Surveyor::look(const plan::SurveyTree& tree) {
  auto root = os::openat(os::at_cwd(), tree.source.c_str(), O_PATH | O_DIRECTORY);
  if (!root) {
    // A file, or nothing: there is nothing below it.
    const Errc code = root.error().code();
    if (code == Errc::not_found || root.error().cause() == std::errc::not_a_directory) return {};
    return std::move(root).error().with(tree.source);
  }
  for (const std::string& name : tree.names) TRY_DO(look_up(*root, tree, name));
  if (tree.walk) walk(*root, tree);
  return {};
}

// A directory that is made later lies where its nearest ancestor does.
bool lies_on_a_disk(std::string path) {
  for (;;) {
    const auto file = os::openat(os::at_cwd(), path.empty() ? "/" : path.c_str(), O_PATH);
    if (file) return os::block_device_of(*file).has_value();
    if (path.empty() || file.error().code() != Errc::not_found) return false;
    path.resize(path.rfind('/'));
  }
}

std::optional<std::uint64_t> bytes_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  TreeSize size{path};
  while (!size.step(Ticks::max())) {
  }
  if (!size.complete()) return std::nullopt;
  return size.total();
}

}  // namespace

Result<plan::Survey> survey(const policy::Policy& policy, const plan::Situation& situation) {
  const std::vector<plan::SurveyTree> trees = plan::trees_to_survey(policy, situation);
  Surveyor surveyor{policy, situation.workspace_target.value_or("/workspace")};
  for (const plan::SurveyTree& tree : trees) TRY_DO(surveyor.look(tree));
  plan::Survey found = surveyor.take();
  for (const std::string& path : plan::paths_with_io_limit(policy, situation)) {
    if (!lies_on_a_disk(path)) found.without_device.push_back(path);
  }
  found.workspace_bytes = bytes_of(plan::workspace_to_count(policy, situation));
  return found;
}

}  // namespace cordon::node
