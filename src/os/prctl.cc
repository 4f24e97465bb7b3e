// SPDX-License-Identifier: Apache-2.0
// prctl with all five arguments: the kernel refuses garbage in those that an option does not use.
#include "os/prctl.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <sys/prctl.h>

namespace cordon::os {
namespace {

Status set(std::string_view name, int option, unsigned long value) {
  if (::prctl(option, value, 0UL, 0UL, 0UL) != 0) return Error::from_errno("prctl").with(name);
  return {};
}

}  // namespace

Status set_no_new_privs() { return set("PR_SET_NO_NEW_PRIVS", PR_SET_NO_NEW_PRIVS, 1); }

Result<bool> no_new_privs() {
  const int on = ::prctl(PR_GET_NO_NEW_PRIVS, 0UL, 0UL, 0UL, 0UL);
  if (on < 0) return Error::from_errno("prctl").with("PR_GET_NO_NEW_PRIVS");
  return on == 1;
}

Status set_parent_death_signal(int signal) {
  return set("PR_SET_PDEATHSIG", PR_SET_PDEATHSIG, static_cast<unsigned long>(signal));
}

Status set_dumpable(bool dumpable) {
  return set("PR_SET_DUMPABLE", PR_SET_DUMPABLE, dumpable ? 1 : 0);
}

Status set_child_subreaper(bool on) {
  return set("PR_SET_CHILD_SUBREAPER", PR_SET_CHILD_SUBREAPER, on ? 1 : 0);
}

Status set_process_name(const char* name) {
  return set("PR_SET_NAME", PR_SET_NAME, std::bit_cast<std::uintptr_t>(name));
}

}  // namespace cordon::os
