// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Of the kernel's own structures the fields that are read, by name: where they lie is put in when
// the program is loaded, by what the kernel says of itself.
#pragma once

#define CORDON_KERNELS __attribute__((preserve_access_index))

struct qstr {
  __u32 len;
  const unsigned char* name;
} CORDON_KERNELS;

struct dentry {
  struct dentry* d_parent;
  struct qstr d_name;
} CORDON_KERNELS;

struct vfsmount {
  struct dentry* mnt_root;
} CORDON_KERNELS;

struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
} CORDON_KERNELS;

struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
} CORDON_KERNELS;

struct file {
  struct path f_path;
} CORDON_KERNELS;

struct fdtable {
  unsigned max_fds;
  struct file** fd;
} CORDON_KERNELS;

struct files_struct {
  struct fdtable* fdt;
} CORDON_KERNELS;

struct fs_struct {
  struct path root;
  struct path pwd;
} CORDON_KERNELS;

struct mm_struct {
  unsigned long arg_start;
  unsigned long arg_end;
} CORDON_KERNELS;

struct upid {
  int nr;
} CORDON_KERNELS;

struct pid {
  unsigned level;
  struct upid numbers[1];
} CORDON_KERNELS;

struct seccomp {
  int mode;
} CORDON_KERNELS;

struct task_struct {
  struct task_struct* group_leader;
  struct task_struct* real_parent;
  struct pid* thread_pid;
  struct mm_struct* mm;
  struct fs_struct* fs;
  struct files_struct* files;
  struct seccomp seccomp;
} CORDON_KERNELS;

struct linux_binprm {
  const char* filename;
} CORDON_KERNELS;

#if defined(__x86_64__)
struct pt_regs {
  unsigned long r10, r9, r8, dx, si, di, orig_ax;
} CORDON_KERNELS;

static __always_inline __u32 call_number(struct pt_regs* regs) {
  return BPF_CORE_READ(regs, orig_ax);
}
static __always_inline __u64 first_argument(struct pt_regs* regs) {
  return BPF_CORE_READ(regs, di);
}
static __always_inline void read_arguments(struct pt_regs* regs, __u64* arguments) {
  arguments[0] = BPF_CORE_READ(regs, di);
  arguments[1] = BPF_CORE_READ(regs, si);
  arguments[2] = BPF_CORE_READ(regs, dx);
  arguments[3] = BPF_CORE_READ(regs, r10);
  arguments[4] = BPF_CORE_READ(regs, r8);
  arguments[5] = BPF_CORE_READ(regs, r9);
}
#else
#error "the registers of this machine are not described yet"
#endif
