// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Which system calls are told, where their paths stand among the arguments, and which names of
// files are told when they are only read.
#pragma once

enum { CALL_ANY = 0, CALL_OPEN, CALL_PATH, CALL_EXEC, CALL_CONNECT };
// Where the flags of an open stand: at that argument, or
enum { FLAGS_BEHIND_2 = 100, FLAGS_CREATE = 101 };
enum { NO_BASE = 100 };

// O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and the second bit of O_TMPFILE.
#define OPEN_WRITES (01U | 02U | 0100U | 01000U | 020000000U)

struct call_kind {
  __u8 of;
  __u8 base;    // the argument that is a directory, for the path
  __u8 path;    // the argument that is the path
  __u8 second;  // another path; 0: none
  __u8 flags;
};

#define CALLS 512U
static const struct call_kind call_kinds[CALLS] = {
    [__NR_open] = {CALL_OPEN, NO_BASE, 0, 0, 1},
    [__NR_openat] = {CALL_OPEN, 0, 1, 0, 2},
    [__NR_openat2] = {CALL_OPEN, 0, 1, 0, FLAGS_BEHIND_2},
    [__NR_creat] = {CALL_OPEN, NO_BASE, 0, 0, FLAGS_CREATE},
    [__NR_mkdir] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_mkdirat] = {CALL_PATH, 0, 1, 0, 0},
    [__NR_rmdir] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_unlink] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_unlinkat] = {CALL_PATH, 0, 1, 0, 0},
    [__NR_rename] = {CALL_PATH, NO_BASE, 0, 1, 0},
    [__NR_renameat] = {CALL_PATH, 0, 1, 3, 0},
    [__NR_renameat2] = {CALL_PATH, 0, 1, 3, 0},
    [__NR_link] = {CALL_PATH, NO_BASE, 0, 1, 0},
    [__NR_linkat] = {CALL_PATH, 0, 1, 3, 0},
    [__NR_symlink] = {CALL_PATH, NO_BASE, 0, 1, 0},
    [__NR_symlinkat] = {CALL_PATH, 1, 0, 2, 0},
    [__NR_mknod] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_mknodat] = {CALL_PATH, 0, 1, 0, 0},
    [__NR_truncate] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_chmod] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_fchmodat] = {CALL_PATH, 0, 1, 0, 0},
    [452 /* fchmodat2 */] = {CALL_PATH, 0, 1, 0, 0},
    [__NR_chown] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_lchown] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_fchownat] = {CALL_PATH, 0, 1, 0, 0},
    [__NR_setxattr] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_lsetxattr] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_removexattr] = {CALL_PATH, NO_BASE, 0, 0, 0},
    [__NR_execve] = {CALL_EXEC, NO_BASE, 0, 0, 0},
    [__NR_execveat] = {CALL_EXEC, 0, 1, 0, 0},
    [__NR_connect] = {CALL_CONNECT, NO_BASE, 0, 0, 0},
};

struct sensitive_name {
  union {
    char bytes[24];
    __u64 words[3];
  };
};
static const struct sensitive_name sensitive_names[] = {
    {{".env"}},           {{".netrc"}},        {{".npmrc"}},       {{".pypirc"}},          {{".git-credentials"}},
    {{"credentials"}},    {{"id_rsa"}},        {{"id_ecdsa"}},     {{"id_ed25519"}},       {{"id_dsa"}},
    {{"shadow"}},         {{"hosts.yml"}},  {{"credentials.json"}},
};
