// SPDX-License-Identifier: Apache-2.0
// Calls that are refused in every profile, with the errno that says so.
#include <cerrno>
#include <sys/syscall.h>

#include "os/filter/table.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

constexpr RefusedCall kRefused[] = {
    // Namespaces and mounts (C065 to C068). The old calls, then the new ones, of which open_tree
    // needs no
    // privilege at all.
    {{"setns", SYS_setns}, EPERM},
    {{"mount", SYS_mount}, EPERM},
    {{"umount2", SYS_umount2}, EPERM},
    {{"pivot_root", SYS_pivot_root}, EPERM},
    {{"chroot", SYS_chroot}, EPERM},
    {{"fsopen", SYS_fsopen}, EPERM},
    {{"fsconfig", SYS_fsconfig}, EPERM},
    {{"fsmount", SYS_fsmount}, EPERM},
    {{"fspick", SYS_fspick}, EPERM},
    {{"move_mount", SYS_move_mount}, EPERM},
    {{"open_tree", SYS_open_tree}, EPERM},
    {{"open_tree_attr", abi::kOpenTreeAttr}, EPERM},
    {{"mount_setattr", SYS_mount_setattr}, EPERM},
    {{"listns", abi::kListns}, EPERM},
    // Other processes: their memory, descriptors, files (C013, C028, C029). A debugger needs a tier
    // of its
    // own.
    {{"ptrace", SYS_ptrace}, EPERM},
    {{"process_vm_readv", SYS_process_vm_readv}, EPERM},
    {{"process_vm_writev", SYS_process_vm_writev}, EPERM},
    {{"process_madvise", SYS_process_madvise}, EPERM},
    {{"process_mrelease", SYS_process_mrelease}, EPERM},
    {{"kcmp", SYS_kcmp}, EPERM},
    {{"pidfd_getfd", SYS_pidfd_getfd}, EPERM},
    {{"open_by_handle_at", SYS_open_by_handle_at}, EPERM},
    {{"name_to_handle_at", SYS_name_to_handle_at}, EPERM},
    // Parts of the kernel that unprivileged users break it by (C084 to C087, C093). userfaultfd in
    // user
    // mode and key rings are open to all without a filter, and key rings are in no namespace of
    // ours.
    {{"bpf", SYS_bpf}, EPERM},
    {{"perf_event_open", SYS_perf_event_open}, EPERM},
    {{"userfaultfd", SYS_userfaultfd}, EPERM},
    {{"keyctl", SYS_keyctl}, EPERM},
    {{"add_key", SYS_add_key}, EPERM},
    {{"request_key", SYS_request_key}, EPERM},
    {{"fanotify_init", SYS_fanotify_init}, EPERM},
    {{"fanotify_mark", SYS_fanotify_mark}, EPERM},
    // Code in the kernel, ports, segments (C088, C089).
    {{"init_module", SYS_init_module}, EPERM},
    {{"finit_module", SYS_finit_module}, EPERM},
    {{"delete_module", SYS_delete_module}, EPERM},
    {{"kexec_load", SYS_kexec_load}, EPERM},
    {{"kexec_file_load", SYS_kexec_file_load}, EPERM},
#if defined(__x86_64__)
    {{"iopl", SYS_iopl}, EPERM},
    {{"ioperm", SYS_ioperm}, EPERM},
    {{"modify_ldt", SYS_modify_ldt}, EPERM},
#endif
    // The host's own settings (C090). adjtimex has what it does behind a pointer, so reading goes
    // too.
    {{"swapon", SYS_swapon}, EPERM},
    {{"swapoff", SYS_swapoff}, EPERM},
    {{"acct", SYS_acct}, EPERM},
    {{"quotactl", SYS_quotactl}, EPERM},
    {{"quotactl_fd", SYS_quotactl_fd}, EPERM},
    {{"reboot", SYS_reboot}, EPERM},
    {{"syslog", SYS_syslog}, EPERM},
    {{"settimeofday", SYS_settimeofday}, EPERM},
    {{"clock_settime", SYS_clock_settime}, EPERM},
    {{"adjtimex", SYS_adjtimex}, EPERM},
    {{"clock_adjtime", SYS_clock_adjtime}, EPERM},
    {{"sethostname", SYS_sethostname}, EPERM},
    {{"setdomainname", SYS_setdomainname}, EPERM},
    {{"vhangup", SYS_vhangup}, EPERM},
    {{"lookup_dcookie", SYS_lookup_dcookie}, EPERM},
    {{"lsm_set_self_attr", abi::kLsmSetSelfAttr}, EPERM},
    // Where memory lies (C091).
    {{"move_pages", SYS_move_pages}, EPERM},
    {{"migrate_pages", SYS_migrate_pages}, EPERM},
    {{"mbind", SYS_mbind}, EPERM},
    {{"set_mempolicy", SYS_set_mempolicy}, EPERM},
    {{"set_mempolicy_home_node", SYS_set_mempolicy_home_node}, EPERM},
    // Priority over neighbours (C041). sched_setattr has its policy behind a pointer.
    {{"sched_setattr", SYS_sched_setattr}, EPERM},
    {{"sched_setparam", SYS_sched_setparam}, EPERM},
    {{"ioprio_set", SYS_ioprio_set}, EPERM},
};

}  // namespace

std::span<const RefusedCall> refused_calls() { return kRefused; }

}  // namespace cordon::os
