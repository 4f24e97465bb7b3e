// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// What the program in the kernel and its reader both know: read by a compiler of C for the kernel's
// machine, and by ours.
#pragma once

// --- who is watched: memory that the reader writes and the program reads

// Places by two: a group lies in one of two rows, whichever had more room.
#define CORDON_ROWS 4096U
#define CORDON_ROW_PLACES 4U
#define CORDON_PLACES (CORDON_ROWS * CORDON_ROW_PLACES)

// Classes of events.
#define CORDON_EXEC 1U
#define CORDON_WRITES 2U
#define CORDON_CONNECTS 4U
#define CORDON_SENSITIVE 8U
#define CORDON_REFUSED 16U

// Flags of an open by which something is written: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and the
// second bit of O_TMPFILE.
#define CORDON_OPEN_WRITES (01U | 02U | 0100U | 01000U | 020000000U)

struct cordon_watch {
  unsigned long long tag;  // the reader's own word
  unsigned long long classes;
  unsigned long long per_second;  // events of one second, about; what is more is counted
  unsigned long long second;      // these by the program
  unsigned long long told;
  unsigned long long over;  // of all seconds, those that were too many
  unsigned long long lost;  // there was no room for them
};

struct cordon_watched {
  unsigned long long groups[CORDON_PLACES];  // of version 2, by their number; 0: nobody
  struct cordon_watch watches[CORDON_PLACES];
};

// The first (0) and the second (1) row of a group.
static inline unsigned cordon_row(unsigned long long group, unsigned which) {
  const unsigned long long mixed =
      group * (which != 0U ? 0x9e3779b97f4a7c15ULL : 0xd6e8feb86659fd93ULL);
  return (mixed >> 40U) & (CORDON_ROWS - 1U);
}

// --- what is told: one of these for each event, then its texts

#define CORDON_RING_BYTES (8U << 20U)
// Of one sandbox alone.
#define CORDON_SMALL_RING_BYTES (1U << 20U)

// NOLINTNEXTLINE(performance-enum-size): C's
enum cordon_kind {
  CORDON_KIND_EXEC = 1,
  CORDON_KIND_FILE = 2,
  CORDON_KIND_CONNECT = 3,
  CORDON_KIND_REFUSED = 4,
  CORDON_KIND_ENDED = 5  // by its filter
};

// Texts, one behind the other. A path that was walked has its last name first, each with a zero
// byte behind it.
// NOLINTNEXTLINE(performance-enum-size): C's
enum cordon_text {
  CORDON_TEXT_USED,    // exec: the program; file: the path as it was given; connect: the address
  CORDON_TEXT_SECOND,  // exec: its arguments, each with a zero byte; file: where it goes
  CORDON_TEXT_WALKED,  // exec: the working directory; file: see `walked`
  CORDON_TEXTS
};

// What CORDON_TEXT_WALKED is of a file.
// NOLINTNEXTLINE(performance-enum-size): C's
enum cordon_walked {
  CORDON_WALKED_NOTHING = 0,
  CORDON_WALKED_BASE = 1,  // what the path as used begins at
  CORDON_WALKED_FILE = 2,  // the file itself
};

struct cordon_event {
  unsigned long long group;
  unsigned kind;
  unsigned pid;  // these two as they are seen inside
  unsigned parent;
  unsigned call;  // its number
  long long result;
  unsigned long long arguments[6];
  char command[16];
  unsigned walked;
  unsigned flags;  // of an open
  unsigned short lengths[CORDON_TEXTS];
  unsigned short is_cut;  // the walk ended before its beginning
};
