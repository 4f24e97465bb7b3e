// SPDX-License-Identifier: Apache-2.0
// The init of a bare machine beside which ours is measured: the same drivers, then a program that
// does nothing, then the end.
#include <string_view>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/machine_devices.h"

int main(int count, char** arguments) {
  if (count == 2 && arguments[1] == std::string_view{"true"}) return 0;
  using namespace cordon;
  if (guest::mount_kernel_files() && guest::load_modules()) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/init", "init", "true", static_cast<char*>(nullptr));
      ::_exit(1);
    }
    static_cast<void>(::waitpid(child, nullptr, 0));
  }
  ::reboot(RB_AUTOBOOT);
}
