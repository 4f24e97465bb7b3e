// SPDX-License-Identifier: Apache-2.0
// cordon-broker: the only holder of secrets. Started by the launcher with a socket to their owner
// as descriptor 3. Egresses come over it.
//
// cordon-broker [--sources] [--store]
//                          --sources: with a socket that sources of secrets speak to as the next
//                          --store: with the file of a store as the next, its key as the one behind
// cordon-broker --source   reads one source for another broker: a socket to it as descriptor 3, the
//                          task as 4
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <openssl/crypto.h>
#include <string_view>
#include <unistd.h>

#include "base/clock.h"
#include "broker/confine.h"
#include "broker/serve.h"
#include "broker/source_task.h"
#include "os/positioned_file.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/rlimit.h"

namespace {

using namespace cordon;

constexpr int kOwner = 3;
constexpr int kTask = 4;

struct Given {
  bool sources = false;
  bool store = false;

  // Their numbers, and the first that is nobody's.
  int at_sources() const { return kOwner + 1; }
  int at_store() const { return at_sources() + (sources ? 1 : 0); }
  int end() const { return at_store() + (store ? 2 : 0); }
};

Result<broker::Store> open_store(int at) {
  os::Fd file{at};
  const os::Fd key{at + 1};
  // The cipher is set up here, before there are no files any more, and without anybody's file.
  if (::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) {
    return Error{Errc::internal, "the cipher cannot be set up"};
  }
  TRY_DO(os::set_inheritable(file, false));
  TRY(os::LockedMemory memory, os::LockedMemory::create(broker::kSealKey));
  TRY_DO(os::read_at(key, 0, memory.bytes()));
  return broker::Store::open(std::move(file), std::move(memory));
}

Result<broker::Server> open_server(const Given& given, const Clock& clock) {
  os::Fd owner{kOwner};
  TRY_DO(os::close_from(static_cast<unsigned>(given.end())));
  TRY_DO(os::set_inheritable(owner, false));
  TRY(broker::Server server, broker::Server::create(std::move(owner), clock));
  if (given.sources) {
    os::Fd sources{given.at_sources()};
    TRY_DO(os::set_inheritable(sources, false));
    TRY_DO(server.hear_sources(std::move(sources)));
  }
  if (given.store) {
    TRY(broker::Store store, open_store(given.at_store()));
    server.use(std::move(store));
  }
  return server;
}

// A source whose reading hangs, in a file system or in a pipe, ends with this.
constexpr unsigned kSourceSeconds = 15;

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

Status read_source() {
  const os::Fd broker{kOwner};
  const os::Fd task{kTask};
  TRY_DO(os::close_from(kTask + 1));
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  // What a command executes must have neither.
  TRY_DO(os::set_inheritable(broker, false));
  TRY_DO(os::set_inheritable(task, false));
  ::alarm(kSourceSeconds);
  return broker::read_for_broker(task, broker,
                                 {.variable = variable, .environment = [] {
                                    return std::vector<std::string>{"PATH=/usr/bin:/bin"};
                                  }});
}

int fail(const Error& error) {
  static_cast<void>(std::fprintf(stderr, "cordon: broker: %s\n", error.text().c_str()));
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  Given given;
  bool reads = false;
  bool known = true;
  for (const std::string_view argument :
       std::span{argv, static_cast<std::size_t>(argc)}.subspan(1)) {
    bool& told = argument == "--store"     ? given.store
                 : argument == "--sources" ? given.sources
                                           : reads;
    known = known && !told && (&told != &reads || (argument == "--source" && argc == 2));
    told = true;
  }
  if (!known) {
    static_cast<void>(std::fputs("cordon: broker: started by the launcher\n", stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // Before the first secret is read; confine() says it again, among all that it does.
  if (const Status hidden = os::set_dumpable(false); !hidden) return fail(hidden.error());
  if (reads) return read_source() ? 0 : 125;
  const SystemClock clock;
  auto server = open_server(given, clock);
  if (!server) return fail(server.error());
  if (const Status confined = broker::confine(); !confined) return fail(confined.error());
  // From here on there is nobody to tell but the owner, who sees its socket end.
  return server->run() ? 0 : 125;
}
