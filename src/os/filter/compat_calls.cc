// SPDX-License-Identifier: Apache-2.0
// What `compat` gives back, and how `strict` refuses it.
#include <cerrno>
#include <sys/syscall.h>

#include "os/filter/table.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

constexpr RefusedCall kCompat[] = {
    // System V and POSIX messages, semaphores, shared memory: the ipc namespace is the sandbox's
    // own.
    {{"shmget", SYS_shmget}, ENOSYS},
    {{"shmat", SYS_shmat}, ENOSYS},
    {{"shmctl", SYS_shmctl}, ENOSYS},
    {{"shmdt", SYS_shmdt}, ENOSYS},
    {{"semget", SYS_semget}, ENOSYS},
    {{"semop", SYS_semop}, ENOSYS},
    {{"semctl", SYS_semctl}, ENOSYS},
    {{"semtimedop", SYS_semtimedop}, ENOSYS},
    {{"msgget", SYS_msgget}, ENOSYS},
    {{"msgsnd", SYS_msgsnd}, ENOSYS},
    {{"msgrcv", SYS_msgrcv}, ENOSYS},
    {{"msgctl", SYS_msgctl}, ENOSYS},
    {{"mq_open", SYS_mq_open}, ENOSYS},
    {{"mq_unlink", SYS_mq_unlink}, ENOSYS},
    {{"mq_timedsend", SYS_mq_timedsend}, ENOSYS},
    {{"mq_timedreceive", SYS_mq_timedreceive}, ENOSYS},
    {{"mq_notify", SYS_mq_notify}, ENOSYS},
    {{"mq_getsetattr", SYS_mq_getsetattr}, ENOSYS},
    // Attributes beside a file's own (C015): on a directory of the host they would stay there,
    // marks of
    // overlayfs among them. Whoever copies files goes on without where a file system has none.
    {{"setxattr", SYS_setxattr}, EOPNOTSUPP},
    {{"lsetxattr", SYS_lsetxattr}, EOPNOTSUPP},
    {{"fsetxattr", SYS_fsetxattr}, EOPNOTSUPP},
    {{"setxattrat", abi::kSetxattrat}, EOPNOTSUPP},
    // Other processes by descriptor: callers fall back on pids.
    {{"pidfd_open", SYS_pidfd_open}, ENOSYS},
    {{"pidfd_send_signal", SYS_pidfd_send_signal}, ENOSYS},
    // The old asynchronous I/O.
    {{"io_setup", SYS_io_setup}, ENOSYS},
    {{"io_destroy", SYS_io_destroy}, ENOSYS},
    {{"io_getevents", SYS_io_getevents}, ENOSYS},
    {{"io_submit", SYS_io_submit}, ENOSYS},
    {{"io_cancel", SYS_io_cancel}, ENOSYS},
    {{"io_pgetevents", SYS_io_pgetevents}, ENOSYS},
    // A copy between pipes without a copy (C092).
    {{"tee", SYS_tee}, ENOSYS},
    // Pages that stay in memory: bounded by RLIMIT_MEMLOCK.
    {{"mlock", SYS_mlock}, EPERM},
    {{"mlock2", SYS_mlock2}, EPERM},
    {{"munlock", SYS_munlock}, EPERM},
    {{"mlockall", SYS_mlockall}, EPERM},
    {{"munlockall", SYS_munlockall}, EPERM},
    // nice (C041): to raise it takes a capability that nobody has.
    {{"setpriority", SYS_setpriority}, EPERM},
    // Becoming another mapped id, for package managers, and giving up capabilities (C079). What
    // they may
    // do is bounded by the ids that are mapped and the capabilities that were granted.
    {{"setuid", SYS_setuid}, EPERM},
    {{"setgid", SYS_setgid}, EPERM},
    {{"setreuid", SYS_setreuid}, EPERM},
    {{"setregid", SYS_setregid}, EPERM},
    {{"setgroups", SYS_setgroups}, EPERM},
    {{"setfsuid", SYS_setfsuid}, EPERM},
    {{"setfsgid", SYS_setfsgid}, EPERM},
    {{"capset", SYS_capset}, EPERM},
};

}  // namespace

std::span<const RefusedCall> compat_calls() { return kCompat; }

}  // namespace cordon::os
