// SPDX-License-Identifier: Apache-2.0
// Why a run ended. Exactly one per run, and it survives the death of the sandbox's pid 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon {

enum class Ending : std::uint8_t {
  exit,       // by itself, with `status`
  signal,     // by a signal that it or another program inside sent: `status` is its number
  wall_time,  // from here to `output`: a limit of ours
  cpu_time,
  memory,
  pids,
  disk,    // bytes
  inodes,  // files
  output,
  policy,          // a tripwire of the policy
  revoked,         // its token or tenant was revoked
  killed,          // the caller asked for it
  infrastructure,  // we or the host failed; nothing is said about the program
  moved,           // it goes on at another node of the fleet, which is the culprit
};

std::string_view to_string(Ending ending) noexcept;

struct Verdict {
  Ending ending = Ending::infrastructure;
  int status = 0;           // where a limit ended it, as a shell counts: 128 and the signal
  std::uint64_t limit = 0;  // in the limit's own unit; 0 where no limit ended it
  std::uint64_t peak = 0;   // what was reached
  std::string culprit;      // "python3 pid 7", where known
  std::string explanation;  // a sentence for a person

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// One line: "stopped: memory: limit 256 MiB, peak 256 MiB, python3 pid 7".
std::string to_line(const Verdict& verdict);

}  // namespace cordon
