// SPDX-License-Identifier: Apache-2.0
#include "node/tree_size.h"

#include <fcntl.h>

#include "os/directory.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/openat2.h"
#include "plan/survey.h"

namespace cordon::node {
namespace {

// Each level holds a descriptor.
constexpr std::size_t kDeepest = 100;
// Between two looks at the clock.
constexpr int kBatch = 32;

}  // namespace

void TreeSize::enter(os::Fd dir) {
  auto names = os::list_some(dir, plan::kMostCounted - entries_ + 1);
  if (!names) {
    complete_ = false;
    return;
  }
  levels_.push_back({std::move(dir), *std::move(names)});
}

void TreeSize::begin() {
  total_ = 0;
  entries_ = 0;
  complete_ = true;
  linked_.clear();
  auto top = os::openat(os::at_cwd(), path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (top) {
    enter(*std::move(top));
  } else {
    complete_ = false;
  }
}

void TreeSize::count_one() {
  Level& level = levels_.back();
  if (level.next == level.names.size()) {
    levels_.pop_back();
    return;
  }
  if (++entries_ > plan::kMostCounted) {
    complete_ = false;
    levels_.clear();
    return;
  }
  const std::string& name = level.names[level.next++];
  const auto status = os::statx(level.dir, name.c_str());
  if (!status) return;  // gone meanwhile
  const bool directory = status->type == os::FileType::directory;
  const bool known =
      !directory && status->links > 1 && !linked_.emplace(status->device, status->inode).second;
  if (!known) total_ += status->allocated;
  if (!directory) return;
  auto below = os::open_beneath(level.dir, name.c_str(),
                                {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK,
                                 .symlinks = os::Symlinks::refused});
  if (below && levels_.size() < kDeepest) {
    enter(*std::move(below));
  } else {
    complete_ = false;
  }
}

bool TreeSize::step(Ticks late) {
  if (levels_.empty()) begin();
  for (;;) {
    for (int done = 0; done < kBatch; ++done) {
      if (levels_.empty()) return true;
      count_one();
    }
    if (std::chrono::steady_clock::now() >= late) return false;
  }
}

}  // namespace cordon::node
