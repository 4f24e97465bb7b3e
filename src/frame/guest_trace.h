// SPDX-License-Identifier: Apache-2.0
// The guest protocol's part about what an engine's own kernel tells of programs inside.
//
// Written by cordon-relay, which stands outside of an engine, or by who stands outside of the
// sandbox in a machine, and by no guest: neither passes on such a frame of one. It is the engine's
// word, and a record of it: an engine that was taken over can say what it likes of its own sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/fields.h"

namespace cordon::frame {

// Acts in one frame.
inline constexpr std::size_t kMostTracedActs = 256;
// Of one act; what is longer is cut.
inline constexpr std::size_t kLongestTracedPath = 4096;
inline constexpr std::size_t kMostTracedArguments = 1024;  // bytes of all of them
inline constexpr std::size_t kLongestTracedAddress = 110;

// Flags of an open by which something is written: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and the
// second bit of O_TMPFILE.
inline constexpr std::uint32_t kOpenWrites = 01U | 02U | 0100U | 01000U | 020000000U;

enum class TracedKind : std::uint8_t {
  exec,     // of a program
  open,     // of a file: to write it, or one that was refused
  connect,  // of a socket
};
constexpr TracedKind last_of(TracedKind) noexcept { return TracedKind::connect; }

// A system call that has ended.
struct TracedAct {
  TracedKind kind = TracedKind::exec;
  std::uint32_t call = 0;  // its number
  std::uint32_t pid = 0;   // these two as they are seen inside; 0: not known
  std::uint32_t parent = 0;
  std::uint32_t error_number = 0;      // 0: it was done
  std::string command;                 // the last name of the program that the process runs
  std::string directory;               // where the process is; not of a connect
  std::string path;                    // as it was given; of a connect the address
  std::string base;                    // where the path begins, if that is neither of the others
  std::vector<std::string> arguments;  // of an exec: the first of them
  std::uint32_t flags = 0;             // of an open
  CORDON_FIELDS(TracedAct, self.kind, self.call, self.pid, self.parent, self.error_number,
                self.command, self.directory, self.path, self.base, self.arguments, self.flags);
};

struct Traced {
  std::vector<TracedAct> acts;
  // As the program in a machine's kernel writes them (recorder/kernel/layout.h).
  std::vector<std::string> events;
  // Beside them, since the frame before:
  std::uint32_t lost = 0;     // for which there was no room on their way
  std::uint32_t unnamed = 0;  // with names that the engine cannot tell
  CORDON_FIELDS(Traced, self.acts, self.events, self.lost, self.unnamed);
};

}  // namespace cordon::frame
