// SPDX-License-Identifier: Apache-2.0
#include "image/tool.h"

#include <unistd.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/pidfd.h"
#include "os/spawn.h"

namespace cordon::image {
namespace {

// Of what it says the end, however much it says: it must not wait for us to read.
std::string last_words(const os::Fd& from) {
  constexpr std::size_t kMost = 4096;
  std::string kept;
  std::array<std::byte, kMost> part{};
  while (true) {
    const ssize_t count = ::read(from.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    kept += as_text(std::span{part}.first(static_cast<std::size_t>(count)));
    if (kept.size() > kMost) kept.erase(0, kept.size() - kMost);
  }
  while (kept.ends_with('\n')) kept.pop_back();
  return kept.substr(kept.rfind('\n') + 1);
}

}  // namespace

Result<RunningTool> RunningTool::start(const Tool& tool, const os::Fd* out) {
  TRY(os::Pipe words, os::pipe2());
  TRY(os::Child child,
      os::spawn(tool.program, tool.arguments, tool.environment, {},
                {.out = out != nullptr ? out : &words.write, .err = &words.write}));
  return RunningTool{tool.arguments.front(), std::move(child), std::move(words.read)};
}

Status RunningTool::end() && {
  const std::string said = last_words(words_);
  TRY(const os::ExitStatus ended, std::move(child_).wait());
  if (ended.success()) return {};
  return Error{Errc::unavailable, name_ + ": " + (said.empty() ? to_string(ended) : said)};
}

Status run_tool(const Tool& tool) {
  TRY(RunningTool running, RunningTool::start(tool, nullptr));
  return std::move(running).end();
}

}  // namespace cordon::image
