// SPDX-License-Identifier: Apache-2.0
// cordon-mcp: the filter between an MCP client and a wrapped server. Started by `cordon mcp wrap`,
// and confined before it reads the first byte: frames (mcp/filter_frame.h) on standard input and
// output.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <span>
#include <string_view>
#include <unistd.h>

#include "base/clock.h"
#include "mcp/confine.h"
#include "mcp/serve.h"

namespace {

using namespace cordon;

constexpr int kFailed = 125;

Result<std::size_t> read_input(std::span<std::byte> into) {
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Error::from_errno("read");
  }
}

Status write_output(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

int fail(const Error& error) {
  static_cast<void>(std::fprintf(stderr, "cordon-mcp: %s\n", error.text().c_str()));
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view{argv[1]} != "--serve") {
    static_cast<void>(std::fputs("cordon-mcp: started by `cordon mcp wrap`\n", stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  if (const Status confined = mcp::confine(); !confined) return fail(confined.error());
  const SystemClock clock;
  const Status done = mcp::serve({.read = read_input, .write = write_output}, clock);
  // No destructor of the program's has anything left to do that the filter would let it do.
  ::_exit(done ? 0 : fail(done.error()));
}
