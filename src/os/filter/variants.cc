// SPDX-License-Identifier: Apache-2.0
// What `nosetid` and `notify` change in a profile, and nothing else.
#include <cassert>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "os/filter/profile.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

// O_TMPFILE without the O_DIRECTORY in it.
constexpr std::uint64_t kTmpfile = static_cast<unsigned>(O_TMPFILE) & ~unsigned{O_DIRECTORY};
constexpr std::uint64_t kCreates = O_CREAT | kTmpfile;
constexpr std::uint64_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

constexpr std::uint64_t kNoFlags = 0;

// A call that makes a file or changes its mode. Where there are flags, only if one of these is set.
struct ModeCall {
  int number = 0;
  unsigned mode = 0;  // which argument
  unsigned flags = 0;
  std::uint64_t flag_bits = kNoFlags;
};

constexpr ModeCall kModeCalls[] = {
    {SYS_fchmod, 1},
    {SYS_fchmodat, 2},
    {abi::kFchmodat2, 2},
    {SYS_mkdirat, 2},
    {SYS_mknodat, 2},
    {SYS_openat, 3, 2, kCreates},
#if defined(__x86_64__)
    {SYS_chmod, 1},
    {SYS_mkdir, 1},
    {SYS_mknod, 1},
    {SYS_creat, 1},
    {SYS_open, 2, 1, kCreates},
#endif
};

// A call that starts a program, dials, or intends to write.
struct IntentCall {
  int number = 0;
  unsigned flags = 0;
  std::uint64_t flag_bits = kNoFlags;
};

constexpr IntentCall kIntentCalls[] = {
    {SYS_execve},    {SYS_execveat}, {SYS_connect},     {SYS_unlinkat},  {SYS_renameat},
    {SYS_renameat2}, {SYS_mkdirat},  {SYS_linkat},      {SYS_symlinkat}, {SYS_truncate},
    {SYS_fchmod},    {SYS_fchmodat}, {abi::kFchmodat2}, {SYS_mknodat},   {SYS_openat, 2, kWrites},
#if defined(__x86_64__)
    {SYS_unlink},    {SYS_rmdir},    {SYS_rename},      {SYS_mkdir},     {SYS_link},
    {SYS_symlink},   {SYS_chmod},    {SYS_mknod},       {SYS_creat},     {SYS_open, 1, kWrites},
#endif
};

FilterAction notified(FilterAction action) {
  return action == FilterAction::allow() ? FilterAction::notify() : action;
}

}  // namespace

// C016: through an idmapped mount the host sees a set-id file of the directory's owner. The mode of
// openat2 is behind a pointer, so that call looks absent; its callers have openat.
void refuse_set_id_bits(ProfileTable& table) {
  for (const ModeCall& call : kModeCalls) {
    std::vector<ArgumentTest> when;
    if (call.flag_bits != kNoFlags) when.push_back(has_any(call.flags, call.flag_bits));
    when.push_back(has_any(call.mode, S_ISUID | S_ISGID));
    std::vector<Clause>& clauses = table.at(call.number).clauses;
    clauses.insert(clauses.begin(), {FilterAction::fail(EPERM), std::move(when)});
  }
  table.erase(SYS_openat2);
}

// What would be allowed goes to the listener; what is refused stays refused without asking it. What
// openat2 intends is behind a pointer: it goes by unseen.
void notify_of_intentions(ProfileTable& table) {
  for (const IntentCall& call : kIntentCalls) {
    RuledCall& row = table.at(call.number);
    if (call.flag_bits == kNoFlags) {
      for (Clause& clause : row.clauses) clause.action = notified(clause.action);
      row.otherwise = notified(row.otherwise);
    } else {
      assert(row.otherwise == FilterAction::allow());
      row.clauses.push_back({FilterAction::notify(), {has_any(call.flags, call.flag_bits)}});
    }
  }
}

}  // namespace cordon::os
