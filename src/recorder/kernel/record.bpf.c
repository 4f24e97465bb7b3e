// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Tells what the processes of watched groups do. It runs in the kernel, at the end of every system
// call and at every exec; it changes nothing, and what it reads of a process's memory that process
// may have changed since: a record, never a fence.
//
// clang-format off: each of these needs the ones before it.
#include <linux/bpf.h>
#include <linux/errno.h>
#include <asm/unistd.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "recorder/kernel/layout.h"
#include "recorder/kernel/structs.h"
#include "recorder/kernel/calls.inc"
// clang-format on

char LICENSE[] SEC("license") = "GPL";

// Shared memory of the reader's.
struct cordon_watched watched;

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, CORDON_RING_BYTES);
} ring SEC(".maps");

// Where an event is put together: one for each processor, which no other event interrupts.
#define TEXT_MOST 4096U
#define LONGEST_TEXT 1024U
#define LONGEST_NAME 256U
#define LONGEST_ADDRESS 110U
struct draft {
  struct cordon_event event;
  char texts[TEXT_MOST + LONGEST_TEXT];
  __u32 end;  // of texts
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct draft);
} drafts SEC(".maps");

// --- who

static __always_inline struct cordon_watch* find_watch(__u64 group) {
  for (__u32 which = 0; which < 2; ++which) {
    const __u32 row = cordon_row(group, which) * CORDON_ROW_PLACES;
    for (__u32 i = 0; i < CORDON_ROW_PLACES; ++i) {
      const __u32 place = (row + i) & (CORDON_PLACES - 1U);
      if (watched.groups[place] == group) return &watched.watches[place];
    }
  }
  return 0;
}

// Whether this second has room for one more.
static __always_inline int has_room(struct cordon_watch* watch) {
  const __u64 second = bpf_ktime_get_ns() >> 30U;
  if (watch->second != second) {
    watch->second = second;
    watch->told = 0;
  }
  if (watch->told >= watch->per_second) {
    __sync_fetch_and_add(&watch->over, 1);
    return 0;
  }
  __sync_fetch_and_add(&watch->told, 1);
  return 1;
}

static __always_inline __u32 pid_inside(struct task_struct* task) {
  struct pid* const pid = BPF_CORE_READ(task, group_leader, thread_pid);
  const unsigned level = BPF_CORE_READ(pid, level);
  struct upid* const first = (void*)pid + bpf_core_field_offset(struct pid, numbers);
  struct upid* const own = (void*)first + level * bpf_core_type_size(struct upid);
  return BPF_CORE_READ(own, nr);
}

// --- putting an event together

static __always_inline struct draft* begin(__u64 group, __u32 kind) {
  const __u32 zero = 0;
  struct draft* const draft = bpf_map_lookup_elem(&drafts, &zero);
  if (!draft) return 0;
  struct task_struct* const task = (void*)bpf_get_current_task();
  __builtin_memset(&draft->event, 0, sizeof draft->event);
  draft->end = 0;
  draft->event.group = group;
  draft->event.kind = kind;
  draft->event.pid = pid_inside(task);
  draft->event.parent = pid_inside(BPF_CORE_READ(task, real_parent));
  bpf_get_current_comm(draft->event.command, sizeof draft->event.command);
  return draft;
}

static __always_inline void add(struct draft* draft, __u32 which, long length) {
  if (length <= 0 || length > LONGEST_TEXT) return;
  draft->event.lengths[which] = length;
  draft->end += length;
}

static __always_inline void add_user_text(struct draft* draft, __u32 which, __u64 from) {
  const __u32 at = draft->end;
  if (at >= TEXT_MOST) return;
  add(draft, which, bpf_probe_read_user_str(&draft->texts[at], LONGEST_TEXT, (void*)from));
}

static __always_inline void add_user_bytes(struct draft* draft, __u32 which, __u64 from, __u64 length) {
  const __u32 at = draft->end;
  if (at >= TEXT_MOST || length == 0) return;
  if (length > LONGEST_TEXT) length = LONGEST_TEXT;
  if (bpf_probe_read_user(&draft->texts[at], length, (void*)from) == 0) add(draft, which, length);
}

// Up from `start` to the root of the current process.
static __noinline void add_walk(struct draft* draft, struct path* start) {
  struct task_struct* const task = (void*)bpf_get_current_task();
  struct fs_struct* const fs = BPF_CORE_READ(task, fs);
  struct dentry* const top = BPF_CORE_READ(fs, root.dentry);
  struct vfsmount* const top_mount = BPF_CORE_READ(fs, root.mnt);
  struct dentry* at = BPF_CORE_READ(start, dentry);
  struct vfsmount* mount = BPF_CORE_READ(start, mnt);
  const __u32 begin_at = draft->end;
  draft->event.is_cut = 1;
  for (int step = 0; step < 48; ++step) {
    if (at == top && mount == top_mount) {
      draft->event.is_cut = 0;
      break;
    }
    if (at == BPF_CORE_READ(mount, mnt_root)) {
      struct mount* const own = (void*)mount - bpf_core_field_offset(struct mount, mnt);
      struct mount* const parent = BPF_CORE_READ(own, mnt_parent);
      if (parent == own) break;  // it is out of sight
      at = BPF_CORE_READ(own, mnt_mountpoint);
      mount = (void*)parent + bpf_core_field_offset(struct mount, mnt);
      continue;
    }
    const __u32 end = draft->end;
    if (end >= TEXT_MOST) break;
    const long length = bpf_probe_read_kernel_str(&draft->texts[end], LONGEST_NAME, BPF_CORE_READ(at, d_name.name));
    if (length <= 0) break;
    draft->end = end + length;
    at = BPF_CORE_READ(at, d_parent);
  }
  draft->event.lengths[CORDON_TEXT_WALKED] = draft->end - begin_at;
}

static __always_inline void add_working_directory(struct draft* draft) {
  struct task_struct* const task = (void*)bpf_get_current_task();
  struct fs_struct* const fs = BPF_CORE_READ(task, fs);
  add_walk(draft, (void*)fs + bpf_core_field_offset(struct fs_struct, pwd));
}

static __always_inline void tell(struct cordon_watch* watch, struct draft* draft) {
  __u32 size = sizeof draft->event + draft->end;
  if (size > sizeof draft->event + TEXT_MOST + LONGEST_TEXT) return;
  if (bpf_ringbuf_output(&ring, draft, size, 0) != 0) __sync_fetch_and_add(&watch->lost, 1);
}

// --- exec

SEC("tp_btf/sched_process_exec")
int BPF_PROG(cordon_exec, struct task_struct* task, int old, struct linux_binprm* program) {
  const __u64 group = bpf_get_current_cgroup_id();
  struct cordon_watch* const watch = find_watch(group);
  if (!watch || !(watch->classes & CORDON_EXEC) || !has_room(watch)) return 0;
  struct draft* const draft = begin(group, CORDON_KIND_EXEC);
  if (!draft) return 0;
  add(draft, CORDON_TEXT_USED, bpf_probe_read_kernel_str(draft->texts, LONGEST_TEXT, BPF_CORE_READ(program, filename)));
  const __u64 from = BPF_CORE_READ(task, mm, arg_start);
  add_user_bytes(draft, CORDON_TEXT_SECOND, from, BPF_CORE_READ(task, mm, arg_end) - from);
  add_working_directory(draft);
  tell(watch, draft);
  return 0;
}

// --- ends by a filter

#define MODE_DEAD 3  // the kernel's SECCOMP_MODE_DEAD: a filter has ended this thread

SEC("tp_btf/sched_process_exit")
int BPF_PROG(cordon_exit, struct task_struct* task) {
  if (BPF_CORE_READ(task, seccomp.mode) != MODE_DEAD) return 0;
  const __u64 group = bpf_get_current_cgroup_id();
  struct cordon_watch* const watch = find_watch(group);
  if (!watch || !(watch->classes & CORDON_REFUSED) || !has_room(watch)) return 0;
  struct draft* const draft = begin(group, CORDON_KIND_ENDED);
  if (draft) tell(watch, draft);
  return 0;
}

// --- system calls

static __always_inline struct file* file_at(__u32 number) {
  struct task_struct* const task = (void*)bpf_get_current_task();
  struct fdtable* const table = BPF_CORE_READ(task, files, fdt);
  if (number >= BPF_CORE_READ(table, max_fds)) return 0;
  struct file** const files = BPF_CORE_READ(table, fd);
  struct file* file = 0;
  bpf_probe_read_kernel(&file, sizeof file, files + number);
  return file;
}

static __always_inline int is_absolute(const struct draft* draft) {
  return draft->event.lengths[CORDON_TEXT_USED] > 0 && draft->texts[0] == '/';
}

// Where a path begins that is not absolute.
static __always_inline void add_base(struct draft* draft, __s32 directory) {
  draft->event.walked = CORDON_WALKED_BASE;
  if (directory == -100) {  // AT_FDCWD
    add_working_directory(draft);
    return;
  }
  struct file* const file = file_at(directory);
  if (file) add_walk(draft, (void*)file + bpf_core_field_offset(struct file, f_path));
}

static __always_inline int is_sensitive(struct file* file) {
  struct sensitive_name name = {};
  struct dentry* const entry = BPF_CORE_READ(file, f_path.dentry);
  // A longer name is cut, and then equal to none. Of a length that is not constant the verifiers of
  // older kernels (6.1) lose sight.
  if (bpf_probe_read_kernel_str(&name, sizeof name, BPF_CORE_READ(entry, d_name.name)) <= 0) return 0;
  for (__u32 i = 0; i < sizeof sensitive_names / sizeof sensitive_names[0]; ++i) {
    const struct sensitive_name* const each = &sensitive_names[i];
    if (each->words[0] == name.words[0] && each->words[1] == name.words[1] && each->words[2] == name.words[2]) return 1;
  }
  return 0;
}

#define NAMESPACES 0x7e020080U  // of clone(2): CLONE_NEWNS and its like

// A C library tries clone3 for each thread and falls back on clone: that is an act of nobody's.
static __always_inline int makes_namespaces(__u64 clone_arguments) {
  __u64 flags = 0;
  if (bpf_probe_read_user(&flags, sizeof flags, (void*)clone_arguments) != 0) return 0;
  return (flags & NAMESPACES) != 0;
}

// What fences answer: of a call without a path only what a filter may.
static __always_inline int is_refusal(struct pt_regs* regs, long result, __u32 number, __u8 of) {
  switch (result) {
    case -ENOSYS:
      return of == CALL_ANY && (number != __NR_clone3 || makes_namespaces(first_argument(regs)));
    case -EPERM:
      return 1;
    case -EACCES:
    case -EROFS:
      return of != CALL_ANY && of != CALL_CONNECT;
    case -EBUSY:  // a name that is pinned
      return of == CALL_PATH;
    case -EINVAL:
    case -EAFNOSUPPORT:
    case -EPROTONOSUPPORT:
      return of == CALL_ANY;
    default:
      return 0;
  }
}

SEC("tp_btf/sys_exit")
int BPF_PROG(cordon_call, struct pt_regs* regs, long result) {
  const __u64 group = bpf_get_current_cgroup_id();
  struct cordon_watch* const watch = find_watch(group);
  if (!watch) return 0;
  const __u64 classes = watch->classes;
  const __u32 number = call_number(regs);
  struct call_kind kind = {};
  if (number < CALLS) kind = call_kinds[number];
  const int refused = (classes & CORDON_REFUSED) && is_refusal(regs, result, number, kind.of);
  if (!refused && (result < 0 ? kind.of != CALL_CONNECT : kind.of == CALL_ANY || kind.of == CALL_EXEC)) return 0;

  __u64 arguments[6];
  read_arguments(regs, arguments);
  __u64 flags = 0;
  struct file* opened = 0;
  if (kind.of == CALL_OPEN) {
    flags = kind.flags == FLAGS_CREATE ? CORDON_OPEN_WRITES : arguments[kind.flags & 3U];
    if (kind.flags == FLAGS_BEHIND_2) {
      const __u64 how = arguments[2];
      if (bpf_probe_read_user(&flags, sizeof flags, (void*)how) != 0) flags = 0;
    }
    if (result >= 0) {
      opened = file_at(result);
      if (!opened) return 0;
      if (flags & CORDON_OPEN_WRITES) {
        if (!(classes & CORDON_WRITES)) return 0;
      } else if (!(classes & CORDON_SENSITIVE) || !is_sensitive(opened)) {
        return 0;
      }
    }
  } else if (!refused && !(classes & (kind.of == CALL_CONNECT ? CORDON_CONNECTS : CORDON_WRITES))) {
    return 0;
  }
  if (!has_room(watch)) return 0;
  struct draft* const draft =
      begin(group, kind.of == CALL_CONNECT ? CORDON_KIND_CONNECT : kind.of == CALL_ANY ? CORDON_KIND_REFUSED : CORDON_KIND_FILE);
  if (!draft) return 0;
  draft->event.call = number;
  draft->event.result = result;
  draft->event.flags = flags;
  __builtin_memcpy(draft->event.arguments, arguments, sizeof arguments);
  if (kind.of == CALL_CONNECT) {
    const __u64 length = arguments[2];
    add_user_bytes(draft, CORDON_TEXT_USED, arguments[1], length > LONGEST_ADDRESS ? LONGEST_ADDRESS : length);
  } else if (kind.of != CALL_ANY) {
    add_user_text(draft, CORDON_TEXT_USED, arguments[kind.path & 3U]);
    if (kind.second) add_user_text(draft, CORDON_TEXT_SECOND, arguments[(kind.second - 1U) & 3U]);
    if (opened) {
      draft->event.walked = CORDON_WALKED_FILE;
      add_walk(draft, (void*)opened + bpf_core_field_offset(struct file, f_path));
    } else if (!is_absolute(draft)) {
      add_base(draft, kind.base == NO_BASE ? -100 : (__s32)arguments[kind.base & 3U]);
    }
  }
  tell(watch, draft);
  return 0;
}
