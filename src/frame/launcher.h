// SPDX-License-Identifier: Apache-2.0
// What a node asks of its launcher, and what the launcher answers: one message each over a
// SOCK_SEQPACKET socket, descriptors beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestLauncherMessage = std::size_t{200} << 10U;

inline constexpr std::uint32_t kLauncherVersion = 9;

// --- before the first message, where the launcher has no root: it says with one byte that it
// stands in a user namespace of its own, and goes on when the node, having written the maps,
// answers with one of

inline constexpr std::byte kMapsAreOwn{1};     // nothing but the caller's own id, setgroups denied
inline constexpr std::byte kMapsHaveSpare{2};  // ids beside the caller's own are mapped

// --- to the launcher

// Answered by Launched, Refused or Broken.
struct Launch {
  std::string plan;  // an encoded LaunchPlan: judged before anything is done
  CORDON_FIELDS(Launch, self.plan);
};

// Ends a sandbox and removes all that it had. Answered by Ended, also for one that is gone already.
// One that had ended by itself is kept until this asks for it: so each end is told once, to a node
// that was there to hear it.
struct Destroy {
  std::string id;
  CORDON_FIELDS(Destroy, self.id);
};

// What a node needs to go on with a sandbox that another node had: a new control stream, on which
// the guest goes on as after Resume. Every older copy of the stream is dead from then on, and the
// launcher holds the new one. Answered by Launched, of one that was deposited by Stored with what
// Deposit had, or by Refused.
struct Fetch {
  std::string id;
  CORDON_FIELDS(Fetch, self.id);
};

// Hands the launcher what an earlier launcher had made: the control stream, where the sandbox has a
// range of ids the lock of that range, and where it has a network its two sockets, for the egress
// of `tenant`. Answered by Stored or Refused. A launcher is not the parent of such a sandbox:
// Destroy only lets go of it.
struct Deposit {
  std::string id;
  std::string tenant;  // empty: it has no network
  CORDON_FIELDS(Deposit, self.id, self.tenant);
};

// What the launcher holds, by id, from the first behind `after` on. Answered by Sandboxes.
struct List {
  std::string after;
  CORDON_FIELDS(List, self.after);
};

// The network of all sandboxes whose plans name `tenant`: its cordon-egress is started where it
// does not run, or has died, and gets the sockets of those that live. Answered by EgressOpened or
// Refused. Before the first plan with a network, and again when its link has ended; then with the
// second descriptor of the last answer beside it, for a launcher that has taken the place of
// another.
struct OpenEgress {
  std::string tenant;
  CORDON_FIELDS(OpenEgress, self.tenant);
};

// The holder of the tenant's credentials, started anew: an earlier one ends, and all that it held
// is gone. Answered by BrokerOpened or Refused. After OpenEgress.
struct OpenBroker {
  std::string tenant;
  CORDON_FIELDS(OpenBroker, self.tenant);
};

// The holder of the key that heads of the audit log are signed with, started anew: an earlier one
// ends. Answered by NotaryOpened or Refused.
struct OpenNotary {
  CORDON_FIELDS(OpenNotary);
};

// Who writes the images that the node has built into the store that the floor names, started anew:
// an earlier one ends. Answered by KeeperOpened or Refused.
struct OpenKeeper {
  CORDON_FIELDS(OpenKeeper);
};

// The monitor's program in the kernel: what holds it there, and how it is spoken with. With
// descriptors beside it, those of the last answer, for a launcher that has taken the place of
// another: its own goes then. Answered by RecorderOpened or Refused.
inline constexpr std::size_t kRecorderParts = 5;  // memory, ring, three links
struct OpenRecorder {
  CORDON_FIELDS(OpenRecorder);
};

// Reads a source of secrets that the floor names for `host`, by a program of its own, which tells
// the tenant's broker and nobody else. Answered by SourceStarted, when nothing has been read yet,
// or Refused. After OpenBroker. `ticket`: of the caller's choosing, not 0; used once.
struct ReadSource {
  std::string tenant;
  std::uint64_t ticket = 0;
  std::string source;  // "env:NAME", "file:/PATH", "cmd:COMMAND"
  std::string host;
  CORDON_FIELDS(ReadSource, self.tenant, self.ticket, self.source, self.host);
};

// Whether an engine works here, by a trial. Answered by EngineTried. In local use: a service has
// told it in its Welcome.
struct TryEngine {
  bool machine = false;  // a virtual machine; false: gVisor
  CORDON_FIELDS(TryEngine, self.machine);
};

// The socket at which the node listens, one descriptor beside it, for whatever node comes next: in
// place of an earlier one of that name. Without a descriptor: there is none any more. Answered by
// Stored or Refused.
struct KeepListener {
  std::string name;     // lower-case letters and digits
  std::string address;  // told to who takes it; no more than 256 letters
  CORDON_FIELDS(KeepListener, self.name, self.address);
};

// A copy of it. Answered by Stored with the descriptor beside it, or Refused.
struct TakeListener {
  std::string name;
  CORDON_FIELDS(TakeListener, self.name);
};

// --- from the launcher

// Beside it descriptors, to be held as long as the sandbox lives: the control stream, a pidfd of
// pid 1, where it has a range of ids the lock of that range, where its filter tells of calls the
// socket at which the listeners of that filter arrive, and from a service where it has a network
// its two sockets (os::SteeredSockets), which are for the next launcher's egress.
struct Launched {
  std::string id;
  std::uint32_t pid = 0;       // of pid 1, as the launcher sees it
  std::uint32_t first_id = 0;  // of the sandbox's id range on the host; 0: it has the caller's id
  std::vector<std::string> groups;  // directories of its control groups
  bool has_witness = false;         // the socket of listeners is beside it
  std::string tenant;               // whose sockets are beside it; empty: none are
  CORDON_FIELDS(Launched, self.id, self.pid, self.first_id, self.groups, self.has_witness,
                self.tenant);
};

// Nothing was done. `code`: "malformed", "plan_below_floor", "not_found", "exists", "exhausted",
// "ended", "unavailable", "denied", "busy".
struct Refused {
  std::string id;
  std::string code;
  std::string text;
  CORDON_FIELDS(Refused, self.id, self.code, self.text);
};

// A step of the descent failed; what it had made is gone again.
struct Broken {
  std::string id;
  std::string step;
  std::int32_t error_number = 0;
  std::string text;
  CORDON_FIELDS(Broken, self.id, self.step, self.error_number, self.text);
};

// Absent: nobody counted it.
struct GroupUse {
  std::optional<std::uint64_t> memory_peak;
  std::optional<std::uint64_t> oom_kills;
  std::optional<std::uint64_t> pids_peak;
  std::optional<std::uint64_t> pids_refused;
  std::optional<std::uint64_t> cpu_microseconds;
  CORDON_FIELDS(GroupUse, self.memory_peak, self.oom_kills, self.pids_peak, self.pids_refused,
                self.cpu_microseconds);
};

// Pid 1 has ended, by itself or by Destroy, and with it every process of the sandbox. A service may
// remove its groups, disk and ids after saying so, before it takes the next request.
struct Ended {
  std::string id;
  bool by_signal = false;
  std::uint32_t value = 0;
  GroupUse use;  // what its control groups had counted in the end
  CORDON_FIELDS(Ended, self.id, self.by_signal, self.value, self.use);
};

struct Stored {
  std::string id;       // of a sandbox, or "listener:NAME"
  std::string address;  // of a listener
  std::string tenant;   // of a sandbox with a network
  CORDON_FIELDS(Stored, self.id, self.address, self.tenant);
};

enum class HeldAs : std::uint8_t {
  living,
  ended,      // by itself; Destroy tells how, once
  deposited,  // of an earlier launcher
};
constexpr HeldAs last_of(HeldAs) noexcept { return HeldAs::deposited; }

struct Held {
  std::string id;
  HeldAs as = HeldAs::living;
  CORDON_FIELDS(Held, self.id, self.as);
};

struct Sandboxes {
  std::vector<Held> held;  // in the order of their ids
  bool more = false;       // behind the last of these
  CORDON_FIELDS(Sandboxes, self.held, self.more);
};

// Beside it two descriptors: the node's link to that cordon-egress (frame/egress.h), an earlier one
// is dead; and a hold on what outlives the egress, which nobody but a launcher can open.
struct EgressOpened {
  std::string id;  // "egress:TENANT"
  CORDON_FIELDS(EgressOpened, self.id);
};

// Beside it one descriptor: the owner's link to that cordon-broker (frame/broker.h).
struct BrokerOpened {
  std::string id;  // "broker:TENANT"
  CORDON_FIELDS(BrokerOpened, self.id);
};

// Beside it one descriptor: the node's link to cordon-notary (frame/notary.h).
struct NotaryOpened {
  std::string id;  // "notary"
  CORDON_FIELDS(NotaryOpened, self.id);
};

// Beside it one descriptor: the node's link to cordon-keeper (frame/keeper.h).
struct KeeperOpened {
  std::string id;  // "keeper"
  CORDON_FIELDS(KeeperOpened, self.id);
};

// Beside it four descriptors: memory that says who is watched, the ring of events
// (recorder/kernel/layout.h), and two that only have to be held.
struct RecorderOpened {
  std::string id;  // "recorder"
  CORDON_FIELDS(RecorderOpened, self.id);
};

struct SourceStarted {
  std::string id;  // "source:TICKET"
  CORDON_FIELDS(SourceStarted, self.id);
};

// A Fact of record/host_facts.h, and what it found.
struct EngineTried {
  std::string id;  // "engine"
  std::uint32_t support = 0;
  std::string detail;
  std::string remedy;
  std::string platform;  // of a machine: its accelerator
  bool traces = false;
  CORDON_FIELDS(EngineTried, self.id, self.support, self.detail, self.remedy, self.platform,
                self.traces);
};

// The first word of a service to a node that it lets in; Refused to any other.
struct Welcome {
  std::uint32_t version = kLauncherVersion;
  std::string facts;  // of the host, with the launcher's rights: record/host_facts_text.h
  CORDON_FIELDS(Welcome, self.version, self.facts);
};

using ToLauncher =
    std::variant<Launch, Destroy, Fetch, Deposit, List, OpenEgress, OpenBroker, ReadSource,
                 KeepListener, TakeListener, OpenNotary, OpenRecorder, TryEngine, OpenKeeper>;
using FromLauncher = std::variant<Launched, Refused, Broken, Ended, Stored, Sandboxes, Welcome,
                                  EgressOpened, BrokerOpened, SourceStarted, NotaryOpened,
                                  RecorderOpened, EngineTried, KeeperOpened>;

std::vector<std::byte> encode(const ToLauncher& message);
std::vector<std::byte> encode(const FromLauncher& message);
Result<ToLauncher> decode_to_launcher(std::span<const std::byte> bytes);
Result<FromLauncher> decode_from_launcher(std::span<const std::byte> bytes);

}  // namespace cordon::frame
