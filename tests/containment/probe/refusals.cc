// SPDX-License-Identifier: Apache-2.0
#include "refusals.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr std::size_t kLargest = 8U << 20U;
constexpr unsigned kSeconds = 10;

int error_of(char letter) {
  static const std::map<char, int> errors = {
      {'S', ENOSYS},       {'P', EPERM},           {'I', EINVAL},    {'T', ENOTTY},
      {'F', EAFNOSUPPORT}, {'R', EPROTONOSUPPORT}, {'O', EOPNOTSUPP}};
  const auto found = errors.find(letter);
  return found == errors.end() ? 0 : found->second;
}

// uretprobe and uprobe: from 6.14 on the kernel asks no filter about them. Made by anybody but the
// kernel's own trampoline they end the caller.
bool passes_every_filter(long number) { return number == 335 || number == 336; }

// The lines of a sweep: a number or a range of them without indent, then for each argument a line
// with its values, deeper by two spaces, and at the end of the deepest the answers.
class Reader {
 public:
  Reader(const std::string& path, std::string profile) : profile_{std::move(profile)} {
    std::istringstream lines{read_text(path, kLargest)};
    for (std::string line; std::getline(lines, line);) take(line);
  }
  std::vector<Refusal> found;

 private:
  struct Level {
    unsigned index = 0;
    std::vector<long> values;
  };

  void take(const std::string& line) {
    if (line.starts_with("# strict ")) return find_column(line.substr(2));
    if (line.empty() || line[0] == '#' || line[0] == 'i') return;
    const std::size_t colon = line.rfind(':');
    const std::string answers = colon + 2 < line.size() ? line.substr(colon + 2) : "";
    const std::size_t indent = line.find_first_not_of(' ');
    std::istringstream words{line.substr(indent, colon - indent)};
    if (indent == 0) {
      levels_.clear();
      char dash = 0;
      words >> std::ws;
      if (line.starts_with("0x")) {
        first_ = last_ = static_cast<int>(std::strtoul(line.c_str(), nullptr, 16));
      } else {
        words >> first_;
        last_ = first_;
        if (words >> dash) words >> last_;
      }
    } else {
      Level level;
      char a = 0;
      words >> a >> level.index;
      for (std::string value; words >> value;) {
        level.values.push_back(static_cast<long>(std::strtoull(value.c_str(), nullptr, 16)));
      }
      levels_.resize(indent / 2 - 1);
      levels_.push_back(std::move(level));
    }
    if (answers.size() > column_ && error_of(answers[column_]) != 0) {
      for (long number = first_; number <= last_; ++number) {
        if (passes_every_filter(number)) continue;
        add({.number = number, .error = error_of(answers[column_])}, 0);
      }
    }
  }

  void find_column(const std::string& names) {
    std::istringstream words{names};
    column_ = 0;
    for (std::string name; words >> name && name != profile_;) ++column_;
  }

  void add(Refusal call, std::size_t level) {
    if (level == levels_.size()) return found.push_back(call);
    for (const long value : levels_[level].values) {
      call.arguments.at(levels_[level].index) = value;
      add(call, level + 1);
    }
  }

  std::string profile_;
  std::size_t column_ = 0;
  long first_ = 0;
  long last_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

std::vector<Refusal> refusals(const std::string& path, const std::string& profile) {
  Reader reader{path, profile};
  std::sort(reader.found.begin(), reader.found.end(),
            [](const Refusal& a, const Refusal& b) { return a.number < b.number; });
  return std::move(reader.found);
}

std::string try_all(std::span<const Refusal> calls) {
  constexpr std::size_t kRoom = 4096;
  void* const shared =
      ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return "no memory";
  auto* const said = static_cast<char*>(shared);
  const int code = in_child(
      [&] {
        for (const Refusal& each : calls) {
          const Answer got = raw_call(each.number, each.arguments);
          if (got.failed() && got.error == each.error) continue;
          const auto& a = each.arguments;
          (void)std::snprintf(said, kRoom, "%s instead of %s (%lx %lx %lx %lx)",
                              text_of(got).c_str(), name_of_error(each.error).c_str(), a[0], a[1],
                              a[2], a[3]);
          return 1;
        }
        return 0;
      },
      kSeconds);
  std::string wrong = said;
  (void)::munmap(shared, kRoom);
  if (code != 0 && wrong.empty()) wrong = "ended with " + std::to_string(code);
  return wrong;
}

}  // namespace cordon::probe
