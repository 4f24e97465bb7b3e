// SPDX-License-Identifier: Apache-2.0
#include "guest/oom_score.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <string>

#include "os/file.h"
#include "os/prctl.h"

namespace cordon::guest {
namespace {

constexpr int kWorkload = 500;
constexpr int kMost = 1000;

}  // namespace

Result<OomScore> OomScore::open() {
  // The files in /proc of a process that is not dumpable belong to root.
  TRY_DO(os::set_dumpable(true));
  auto file = os::openat(os::at_cwd(), "/proc/self/oom_score_adj", O_RDWR);
  TRY_DO(os::set_dumpable(false));
  if (!file) return std::move(file).error();
  TRY(const std::string text, os::read_all(*file, 64));
  int own = 0;
  std::from_chars(text.data(), text.data() + text.size(), own);
  return OomScore{*std::move(file), own};
}

Status OomScore::raise() const {
  return os::write_all(file_, std::to_string(std::min(own_ + kWorkload, kMost)));
}

Status OomScore::lower() const { return os::write_all(file_, std::to_string(own_)); }

}  // namespace cordon::guest
