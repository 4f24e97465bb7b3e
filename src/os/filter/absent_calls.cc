// SPDX-License-Identifier: Apache-2.0
// Calls that look as if the kernel did not have them: whoever tries them has something to fall back
// on.
#include <sys/syscall.h>

#include "os/filter/table.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

constexpr Call kAbsent[] = {
    // Flags behind a pointer: glibc falls back on clone (C064).
    {"clone3", SYS_clone3},
    // A second way to nearly every call, past this table (C083).
    {"io_uring_setup", SYS_io_uring_setup},
    {"io_uring_enter", SYS_io_uring_enter},
    {"io_uring_register", SYS_io_uring_register},
    // Pages given away and mapped anew (C092); readers fall back.
    {"vmsplice", SYS_vmsplice},
    {"remap_file_pages", SYS_remap_file_pages},
    {"readahead", SYS_readahead},
    // Memory that the kernel cannot see, shadow stacks, probes (C094).
    {"memfd_secret", SYS_memfd_secret},
    {"map_shadow_stack", abi::kMapShadowStack},
#if defined(__x86_64__)
    {"uretprobe", abi::kUretprobe},
    {"uprobe", abi::kUprobe},
#endif
    // Priority inheritance by requeue (C095).
    {"futex_requeue", abi::kFutexRequeue},
    // Knowledge of mounts, security modules, nodes and inode flags that nothing needs yet.
    {"statmount", abi::kStatmount},
    {"listmount", abi::kListmount},
    {"lsm_get_self_attr", abi::kLsmGetSelfAttr},
    {"lsm_list_modules", abi::kLsmListModules},
    {"get_mempolicy", SYS_get_mempolicy},
    {"file_getattr", abi::kFileGetattr},
    {"file_setattr", abi::kFileSetattr},
    // Dead, or overtaken before this architecture had programs (C090).
    {"nfsservctl", SYS_nfsservctl},
#if defined(__x86_64__)
    {"uselib", SYS_uselib},
    {"ustat", SYS_ustat},
    {"sysfs", SYS_sysfs},
    {"_sysctl", SYS__sysctl},
    {"create_module", SYS_create_module},
    {"get_kernel_syms", SYS_get_kernel_syms},
    {"query_module", SYS_query_module},
    {"getpmsg", SYS_getpmsg},
    {"putpmsg", SYS_putpmsg},
    {"afs_syscall", SYS_afs_syscall},
    {"tuxcall", SYS_tuxcall},
    {"security", SYS_security},
    {"vserver", SYS_vserver},
    {"epoll_ctl_old", SYS_epoll_ctl_old},
    {"epoll_wait_old", SYS_epoll_wait_old},
    {"get_thread_area", SYS_get_thread_area},
    {"set_thread_area", SYS_set_thread_area},
    {"time", SYS_time},
#endif
};

}  // namespace

std::span<const Call> absent_calls() { return kAbsent; }

}  // namespace cordon::os
