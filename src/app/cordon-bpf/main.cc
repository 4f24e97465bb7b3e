// SPDX-License-Identifier: Apache-2.0
// cordon-bpf: puts the monitor's program into the kernel, hands over what holds it there, and ends.
//
// cordon-bpf            started by the launcher: descriptor 3 is a socket, which gets one message,
//                       with descriptors beside it or with why there are none
// cordon-bpf machine    the same in a virtual machine, which has one sandbox
// cordon-bpf --check    says whether it can be done here: 0, or 1 with why not
#include <array>
#include <cstdio>
#include <string_view>

#include "base/bytes.h"
#include "os/socket.h"
#include "recorder/kernel/layout.h"
#include "recorder/kernel/load.h"

namespace {

using namespace cordon;

constexpr int kLauncher = 3;

Status hand_over(const os::Fd& launcher, std::uint32_t ring_bytes) {
  const auto loaded = recorder::load_recorder(ring_bytes);
  if (!loaded) {
    TRY_DO(os::send(launcher, as_bytes(loaded.error().text())));
    return loaded.error();
  }
  const std::array<const os::Fd*, 5> fds{&loaded->watched, &loaded->ring, &loaded->exec,
                                         &loaded->calls, &loaded->ends};
  TRY_DO(os::send(launcher, as_bytes("ok"), fds));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (argc == 1 || word == "machine") {
    const std::uint32_t bytes = argc == 1 ? CORDON_RING_BYTES : CORDON_SMALL_RING_BYTES;
    return hand_over(os::Fd{kLauncher}, bytes) ? 0 : 1;
  }
  if (word != "--check") {
    static_cast<void>(std::fputs("cordon-bpf: started by the launcher\n", stderr));
    return 2;
  }
  const auto loaded = recorder::load_recorder(CORDON_RING_BYTES);
  if (loaded) return 0;
  static_cast<void>(std::fprintf(stdout, "%s\n", loaded.error().text().c_str()));
  return 1;
}
