// SPDX-License-Identifier: Apache-2.0
// cordon-launcher: the only program with rights, and the root of the tree of sandboxes.
//
// Started by `cordon` with its socket as descriptor 3. Without root it first enters a user
// namespace of its own, whose maps the caller writes.
#include <csignal>
#include <cstdio>
#include <string_view>
#include <unistd.h>

#include "launcher/open_workshop.h"
#include "launcher/serve.h"
#include "os/process.h"

namespace {

constexpr int kNode = 3;

int fail(const cordon::Error& error) {
  static_cast<void>(std::fprintf(stderr, "cordon: launcher: %s\n", error.text().c_str()));
  return 125;
}

}  // namespace

int main(int argc, char**) {
  using namespace cordon;
  if (argc != 1) {
    static_cast<void>(std::fputs("cordon: launcher: started by cordon, not by hand\n", stderr));
    return 2;
  }
  // Signals of the caller's terminal are the caller's business.
  ::setsid();
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  os::Fd node{kNode};
  if (const Status closed = os::close_from(kNode + 1); !closed) return fail(closed.error());
  if (const Status own = os::set_inheritable(node, false); !own) return fail(own.error());
  auto workshop = launcher::open_workshop(node);
  if (!workshop) return fail(workshop.error());
  auto server =
      launcher::Server::create(*std::move(workshop), std::move(node), launcher::WhenAlone::end);
  if (!server) return fail(server.error());
  const Status served = server->run();
  return served ? 0 : fail(served.error());
}
