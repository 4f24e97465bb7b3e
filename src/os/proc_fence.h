// SPDX-License-Identifier: Apache-2.0
// A /proc that shows processes and nothing that tells of, or changes, their kernel.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Lie over the masked entries: a file that reads as empty, and a directory.
inline constexpr const char* kBlank = "blank";
inline constexpr const char* kEmpty = "empty";

// `proc`: a /proc that is mounted; `masks`: a directory with kBlank and kEmpty. Gives the directory
// of the limits of namespaces, still writable.
Result<Fd> fence_proc(const Fd& proc, const Fd& masks);

// No namespace of any kind can be made by the user namespace that the caller is in, nor below it,
// whatever capabilities somebody has there. Before: `limits` as from fence_proc.
Status forbid_namespaces(const Fd& limits);

}  // namespace cordon::os
