// SPDX-License-Identifier: Apache-2.0
// cordon-launcher: the only program with rights, and the root of the tree of sandboxes.
//
// Started by `cordon` with its socket as descriptor 3; without root it first enters a user
// namespace of its own, whose maps the caller writes. Or, by root, as a service:
//
// cordon-launcher --socket PATH --floor FILE [--node CONFIG]
//
// With --node it starts the node too, and again whenever that ends.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>

#include "launcher/engine_trial.h"
#include "launcher/open_workshop.h"
#include "launcher/serve.h"
#include "launcher/stop_signal.h"
#include "os/fault_point.h"
#include "os/fd_log_sink.h"
#include "os/probe_host.h"
#include "os/process.h"
#include "record/host_facts_text.h"

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

struct ServiceWords {
  std::string socket;
  std::string floor;
  std::string node;  // its configuration; empty: somebody else starts it
};

std::optional<launcher::NodeKeeper> keeper_of(const ServiceWords& words,
                                              const launcher::ServiceFloor& floor) {
  if (words.node.empty()) return std::nullopt;
  return launcher::NodeKeeper{{words.node, floor.node_uid, floor.node_gid.value_or(floor.node_uid)},
                              launcher::NodeKeeper::kGrace};
}

Status serve_nodes(const ServiceWords& words) {
  TRY_DO(os::close_from(kNode));
  TRY(const launcher::ServiceFloor floor, launcher::read_floor(words.floor));
  // Whoever else listens there is found before anything is made.
  TRY(launcher::Door door, launcher::Door::open(words.socket, floor.node_uid));
  // A node has no rights with which it could find out what a sandbox of ours can have.
  HostFacts facts = os::probe_host({});
  TRY(os::Fd stop, launcher::catch_stop_signals());
  TRY(launcher::Workshop workshop, launcher::open_workshop(floor));
  if (floor.monitor) {
    auto recorder = launcher::Recorder::load();
    facts[Feature::ebpf] = launcher::fact_of(recorder);
    if (recorder) workshop.recorder.emplace(*std::move(recorder));
  }
  launcher::EngineTrial gvisor = launcher::try_gvisor(workshop);
  facts[Feature::gvisor] = std::move(gvisor.fact);
  facts.gvisor_platform = std::move(gvisor.platform);
  facts.gvisor_traces = floor.monitor && gvisor.traces;
  launcher::EngineTrial machine = launcher::try_machine(workshop);
  facts[Feature::microvm] = std::move(machine.fact);
  facts.accelerator = std::move(machine.platform);
  facts.machine_traces = floor.monitor && machine.traces;
  TRY(launcher::Server server,
      launcher::Server::at(std::move(workshop), std::move(door), std::move(stop), to_text(facts),
                           keeper_of(words, floor)));
  return server.run();
}

// Nothing: these are not the words of a service.
std::optional<ServiceWords> words_of(std::span<char* const> arguments) {
  using std::string_view;
  const bool has_node = arguments.size() == 6 && arguments[4] == string_view{"--node"};
  if (arguments.size() != 4 && !has_node) return std::nullopt;
  if (arguments[0] != string_view{"--socket"} || arguments[2] != string_view{"--floor"}) {
    return std::nullopt;
  }
  return ServiceWords{arguments[1], arguments[3], has_node ? arguments[5] : ""};
}

// Whoever started us has gone, with a message of its own: what we could say is of no use to
// anybody.
bool has_gone(const os::Fd& node) {
  if (!node) return false;
  pollfd end{.fd = node.get(), .events = 0, .revents = 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto service = words_of({argv + 1, argv + argc});
  if (argc != 1 && !service) {
    static_cast<void>(
        std::fputs("cordon: launcher: started by cordon; as a service: --socket PATH "
                   "--floor FILE [--node CONFIG]\n",
                   stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  if (service)
    os::arm_fault_point(std::getenv("CORDON_FAULT"));  // NOLINT(concurrency-mt-unsafe): one thread
  const SystemClock clock;
  os::FdLogSink lines{os::Fd{STDERR_FILENO}, clock};
  if (service) set_log_sink(&lines);
  os::Fd last;
  const Status served = service ? serve_nodes(*service) : serve_caller(last);
  if (served) return 0;
  if (has_gone(last)) return 125;
  static_cast<void>(std::fprintf(stderr, "cordon: launcher: %s\n", served.error().text().c_str()));
  return 125;
}
