// SPDX-License-Identifier: Apache-2.0
// cordon-launcher: the only program with rights, and the root of the tree of sandboxes.
//
// Started by `cordon` with its socket as descriptor 3; without root it first enters a user
// namespace of its own, whose maps the caller writes. Or, by root, as a service:
//
// cordon-launcher --socket PATH --floor FILE
#include <csignal>
#include <cstdio>
#include <string_view>
#include <unistd.h>

#include "launcher/open_workshop.h"
#include "launcher/serve.h"
#include "launcher/stop_signal.h"
#include "os/process.h"

namespace {

using namespace cordon;

constexpr int kNode = 3;

// `last` keeps the caller's socket open for as long as there may be something to say: at its end
// the caller takes us for gone.
Status serve_caller(os::Fd& last) {
  // Signals of the caller's terminal are the caller's business.
  ::setsid();
  last = os::Fd{kNode};
  TRY_DO(os::close_from(kNode + 1));
  TRY_DO(os::set_inheritable(last, false));
  TRY(os::Fd node, os::duplicate(last));
  TRY(launcher::Workshop workshop, launcher::open_workshop(node));
  TRY(launcher::Server server, launcher::Server::over(std::move(workshop), std::move(node)));
  return server.run();
}

Status serve_nodes(const char* socket, const char* file) {
  TRY_DO(os::close_from(kNode));
  TRY(const launcher::ServiceFloor floor, launcher::read_floor(file));
  // Whoever else listens there is found before anything is made.
  TRY(launcher::Door door, launcher::Door::open(socket, floor.node_uid));
  TRY(os::Fd stop, launcher::catch_stop_signals());
  TRY(launcher::Workshop workshop, launcher::open_workshop(floor));
  TRY(launcher::Server server,
      launcher::Server::at(std::move(workshop), std::move(door), std::move(stop)));
  return server.run();
}

}  // namespace

int main(int argc, char** argv) {
  using std::string_view;
  const bool service =
      argc == 5 && argv[1] == string_view{"--socket"} && argv[3] == string_view{"--floor"};
  if (argc != 1 && !service) {
    static_cast<void>(std::fputs(
        "cordon: launcher: started by cordon; as a service: --socket PATH --floor FILE\n", stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  os::Fd last;
  const Status served = service ? serve_nodes(argv[2], argv[4]) : serve_caller(last);
  if (served) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon: launcher: %s\n", served.error().text().c_str()));
  return 125;
}
