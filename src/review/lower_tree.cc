// SPDX-License-Identifier: Apache-2.0
#include "review/lower_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "os/directory.h"
#include "os/file.h"

namespace cordon::review {
namespace {

struct LowerLevel {
  os::Fd dir;
  std::vector<std::string> names;  // taken from the back
};

class Measure {
 public:
  Measure(std::size_t most, std::size_t depth) : most_{most}, depth_{depth} {}

  void enter(Result<os::Fd> dir) {
    if (!dir || levels_.size() >= depth_) {
      size_.whole = false;
      return;
    }
    auto names = os::list_directory(*dir, most_);
    if (!names) {
      size_.whole = false;
      return;
    }
    levels_.push_back({*std::move(dir), *std::move(names)});
  }

  TreeSize run() {
    while (!levels_.empty() && size_.entries < most_) {
      LowerLevel& level = levels_.back();
      if (level.names.empty()) {
        levels_.pop_back();
        continue;
      }
      const std::string name = std::move(level.names.back());
      level.names.pop_back();
      look_at(level.dir, name);
    }
    size_.whole = size_.whole && levels_.empty();
    return size_;
  }

  void seen(const os::FileStatus& status) { size_.newest = std::max(size_.newest, status.changed); }

 private:
  void look_at(const os::Fd& dir, const std::string& name) {
    const auto status = os::statx(dir, name.c_str());
    if (!status) {
      size_.whole = false;
      return;
    }
    ++size_.entries;
    seen(*status);
    if (status->type == os::FileType::directory) {
      enter(os::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    }
  }

  std::size_t most_;
  std::size_t depth_;
  TreeSize size_;
  std::vector<LowerLevel> levels_;
};

}  // namespace

TreeSize measure(const Entry& directory, std::size_t most, std::size_t depth) {
  Measure measure{most, depth};
  measure.seen(directory.status);
  measure.enter(open_contents(directory));
  return measure.run();
}

}  // namespace cordon::review
