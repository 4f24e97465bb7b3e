// SPDX-License-Identifier: Apache-2.0
// One program, from a start request to its exec: the spawner becomes it.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// Where an argument without a slash is looked for when the environment has no PATH.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// The paths to try, in order; just the name when it has a slash. Empty entries of PATH, which mean
// the working directory, are passed over.
std::vector<std::string> candidates(std::string_view name,
                                    const std::vector<std::string>& environment);

// The spawner's socket to pid 1. It closes with the exec.
inline constexpr int kLink = 3;
// The way to whoever answers a `notify` filter. It is closed before anything is served.
inline constexpr int kWitness = 4;

// The program's three descriptors, and ours.
struct Streams {
  os::Fd in;
  os::Fd out;
  os::Fd err;
  // None of them blocks: input, out, err; or a terminal's master, and the way to its herald.
  std::vector<os::Fd> ours;
  bool terminal = false;
  os::Fd orders;  // a herald's end, of a terminal that needs one
  std::string slave;
};
// Made by the spawner, so that they belong to the workload: a program may open /dev/stdout anew.
Result<Streams> make_pipes();
Result<Streams> make_terminal(const frame::WindowSize& size);

struct StartFailure {
  std::string_view step;  // "directory", "exec", …
  int error_number = 0;
};

// All that an exec needs, made before: whoever has said that it begins must not fail for want of
// memory.
struct Program {
  std::vector<std::string> paths;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string directory;
};
// `start` must outlive it.
std::expected<Program, StartFailure> prepare(const frame::Start& start);

// The calling process becomes the program, in a session of its own. Returns only where it cannot,
// and then with nothing left open but the three descriptors and kLink: to say why, and to end.
StartFailure become(const Program& program, const Streams& streams);

}  // namespace cordon::guest
