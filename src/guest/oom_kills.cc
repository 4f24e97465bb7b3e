// SPDX-License-Identifier: Apache-2.0
#include "guest/oom_kills.h"

#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "os/file.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kMostOfStatistics = std::size_t{64} << 10U;

}  // namespace

Result<OomKills> OomKills::open() {
  TRY(os::Fd file, os::openat(os::at_cwd(), "/proc/vmstat", O_RDONLY));
  return OomKills{std::move(file)};
}

std::uint64_t OomKills::count() const {
  constexpr std::string_view kLine = "\noom_kill ";
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) return 0;
  const auto text = os::read_all(file_, kMostOfStatistics);
  const std::size_t at = text ? text->find(kLine) : std::string::npos;
  if (at == std::string::npos) return 0;
  std::uint64_t count = 0;
  std::from_chars(text->data() + at + kLine.size(), text->data() + text->size(), count);
  return count;
}

}  // namespace cordon::guest
