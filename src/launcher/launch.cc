// SPDX-License-Identifier: Apache-2.0
// The launcher's side of the first descent.
#include "launcher/launch.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "frame/guest.h"
#include "launcher/descent.h"
#include "launcher/descriptors.h"
#include "launcher/engine.h"
#include "launcher/io_limit.h"
#include "launcher/save_like.h"
#include "launcher/sources.h"
#include "launcher/tell.h"
#include "launcher/wake.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/memfd.h"
#include "os/namespace.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::chrono::seconds kLongestDescent{10};

LaunchFailure read_report(const std::string& text) {
  const std::size_t first = text.find('\n');
  const std::size_t second = text.find('\n', first + 1);
  if (first == std::string::npos || second == std::string::npos) {
    return {"descent", Error{Errc::internal, "the sandbox's first process ended without a word"}};
  }
  const int number = std::atoi(text.c_str() + first + 1);  // NOLINT(cert-err34-c): our own text
  const std::string words = text.substr(second + 1);
  // The text ends with the errno's own words already: keep the code, take the text once.
  const Errc code = Error::from_errno("", number).code();
  return {text.substr(0, first), Error{number == 0 ? Errc::internal : code, words}};
}

// Empty when cordon-init runs. A descent that takes longer is stuck, on a source that does not
// answer say, and must not hold up every other sandbox.
Result<std::string> await_report(const os::Fd& reports) {
  using std::chrono::milliseconds;
  const auto late = std::chrono::steady_clock::now() + kLongestDescent;
  std::string report;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(late - std::chrono::steady_clock::now());
    pollfd news{.fd = reports.get(), .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? ::poll(&news, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Error{Errc::timeout, "the sandbox did not stand in time"};
    std::array<char, kLongestReport> part{};
    const ssize_t got = ::read(reports.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read");
    if (got == 0) return report;
    report.append(part.data(), static_cast<std::size_t>(got));
    if (report.size() > kLongestReport) return Error{Errc::internal, "a report without end"};
  }
}

Result<LentIds> take_ids(Workshop& workshop) {
  auto lent = workshop.ranges.take();
  if (lent || lent.error().code() != Errc::exhausted) return lent;
  // What waits for a plan has no better right to a range than the plan that is here.
  const bool gave = workshop.berths.give_up_one() || workshop.spares.give_up_one();
  return gave ? workshop.ranges.take() : std::move(lent);
}

// Who holds what a sandbox's network ends at.
enum class Holder : std::uint8_t {
  egress,  // of the plan's tenant
  nobody,
  later,  // whoever takes the sandbox
};

class Launch {
 public:
  Launch(const JudgedPlan& plan, Workshop& workshop, Holder holder)
      : plan_{plan}, workshop_{workshop}, holder_{holder} {}

  Status prepare();
  // Before: prepare. Gives the report of a failed descent; empty when cordon-init runs.
  Result<std::string> start();
  // Before: start gave an empty report.
  Sandbox take();
  // Where they are to be held later.
  os::SteeredSockets take_sockets() { return std::move(sockets_); }
  // Of a machine, between prepare and start: what it will be saved to, once it has ended.
  Result<MachineTemplate> will_be_saved();

 private:
  Status choose_start();
  Result<os::Fd> take_network();
  [[noreturn]] void be_child(const os::Fd& net, const os::Fd& reports);

  const JudgedPlan& plan_;
  Workshop& workshop_;
  Holder holder_;
  os::SteeredSockets sockets_;
  std::optional<HeldNetwork> network_;
  std::optional<LentRange> range_;
  std::optional<DiskImage> disk_;
  std::optional<SandboxGroups> groups_;
  HostIds ids_;
  os::Fd user_namespace_;
  Sources sources_;
  os::SocketPair pair_;
  os::SocketPair witness_;  // where the filter tells of calls
  std::optional<EngineParts> engine_;
  std::optional<os::Child> init_;
};

Status Launch::prepare() {
  if (plan_->ids == frame::Ids::range) {
    TRY(LentIds lent, take_ids(workshop_));
    range_.emplace(std::move(lent.range));
    user_namespace_ = std::move(lent.user_namespace);
  }
  ids_ = host_ids(*plan_, range_ ? &*range_ : nullptr, workshop_.own);
  if (!range_) {
    TRY(user_namespace_, make_caller_namespace(*plan_, ids_));
  }
  TRY(sources_, open_sources(plan_, ids_, user_namespace_, workshop_.sources, workshop_.roots));
  if (plan_->disk.image) {
    TRY(DiskImage disk, DiskImage::make(plan_->disk));
    sources_.disk = disk.take_mount();
    disk_.emplace(std::move(disk));
  }
  TRY(SandboxGroups groups, workshop_.groups.take(*plan_));
  TRY(const auto io, io_limits(plan_, sources_, disk_ ? &*disk_ : nullptr));
  TRY_DO(groups.hold_io(io));
  groups_.emplace(std::move(groups));
  TRY(pair_, os::socketpair(os::SocketType::stream));
  if (plan_->engine != frame::Engine::none) {
    TRY(EngineParts parts, open_engine(*plan_, workshop_.floor, workshop_.pins));
    engine_.emplace(std::move(parts));
    TRY_DO(choose_start());
  }
  const auto filter = os::filter_profile_from_string(plan_->setup.fences.filter);
  if (filter && os::has_notify(*filter)) {
    TRY(witness_, os::socketpair(os::SocketType::seqpacket));
  }
  return {};
}

// NOLINTBEGIN(bugprone-unchecked-optional-access): of a machine, whose parts were opened
// As one that was saved, where there is such a one.
Status Launch::choose_start() {
  if (plan_->engine != frame::Engine::machine) return {};
  const Floor& floor = workshop_.floor;
  const TemplateKey key{.memory = plan_->machine.memory, .kvm = plan_->machine.kvm};
  const MachineTemplate* const saved = workshop_.machines.find(key, floor.machine, floor.qemu);
  return saved != nullptr ? prepare_to_load(*engine_->machine, *saved) : Status{};
}

Result<MachineTemplate> Launch::will_be_saved() {
  TRY_DO(prepare_to_save(*engine_->machine, plan_->machine.memory));
  MachineTemplate made;
  TRY(made.memory, os::duplicate(engine_->machine->memory));
  TRY(made.state, os::duplicate(engine_->machine->state));
  return made;
}
// NOLINTEND(bugprone-unchecked-optional-access)

void Launch::be_child(const os::Fd& net, const os::Fd& low_reports) {
  // The host's end is the launcher's: with a copy here pid 1 would never see its stream end.
  pair_.one = os::Fd{};
  witness_.one = os::Fd{};
  // Out of the way of the places that a relay's descriptors have.
  const os::Fd reports{::fcntl(low_reports.get(), F_DUPFD_CLOEXEC, kAbovePlaces)};
  if (!reports) ::_exit(1);
  Descent descent{.plan = &plan_,
                  .fences = plan_->setup.fences,
                  .ids = ids_,
                  .sources = sources_,
                  .groups = *groups_,  // NOLINT(bugprone-unchecked-optional-access): by prepare
                  .network = net,
                  .user_namespace = user_namespace_,
                  .control = pair_.two,
                  .witness = witness_.two,
                  .program = workshop_.program,
                  .launcher = workshop_.self,
                  .reports = reports,
                  .may_set_groups = workshop_.own.may_set_groups,
                  .engine = engine_ ? &*engine_ : nullptr};
  const FailedStep failed = descend(descent);
  static_cast<void>(os::write_all(reports, to_report(failed)));
  ::_exit(1);
}

// A namespace as the plan wants it.
Result<os::Fd> Launch::take_network() {
  if (!plan_->network) {
    TRY(Network bare, workshop_.networks.take());
    return std::move(bare.netns);
  }
  if (holder_ == Holder::nobody) {
    // Where everything is refused.
    TRY(NetPool pool, NetPool::start(NetKind::steered, 1, false));
    TRY(Network network, pool.take());
    return std::move(network.netns);
  }
  if (!workshop_.steered) {
    return Error{Errc::unavailable, "no cordon-egress runs for this sandbox"};
  }
  TRY(Network network, workshop_.steered->take());
  if (holder_ == Holder::later) {
    sockets_ = std::move(network.sockets);
    return std::move(network.netns);
  }
  TRY_DO(workshop_.egresses->add(plan_->tenant, plan_->id, std::move(network.sockets)));
  network_.emplace(*workshop_.egresses, plan_->id);
  return std::move(network.netns);
}

// NOLINTBEGIN(bugprone-unchecked-optional-access): set by prepare and start, which came before
Sandbox Launch::take() {
  groups_->rest();
  return {std::move(network_), std::move(range_),    std::move(disk_),       *std::move(groups_),
          *std::move(init_),   std::move(pair_.one), std::move(witness_.one)};
}

Result<std::string> Launch::start() {
  TRY(os::Pipe reports, os::pipe2());
  TRY(const os::Fd net, take_network());
  TRY(os::Cloned cloned,
      os::clone3({.namespaces = os::NsSet{os::Ns::mount, os::Ns::pid, os::Ns::ipc, os::Ns::uts},
                  .cgroup = groups_->v2_dir(),
                  .clear_signal_handlers = true}));
  if (cloned.pid == 0) be_child(net, reports.write);
  engine_.reset();
  init_.emplace(cloned.pid, std::move(cloned.pidfd));
  reports.write = os::Fd{};
  pair_.two = os::Fd{};
  witness_.two = os::Fd{};
  TRY_DO(workshop_.program.fill());
  if (plan_->engine == frame::Engine::machine) TRY_DO(wake(pair_.one, *plan_));
  TRY_DO(tell(pair_.one, plan_->setup));
  return await_report(reports.read);
}
// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace

Result<OpenedEgress> Workshop::open_egress(const std::string& tenant, const os::Fd& kept) {
  if (!steered) {
    // Made while the node and the egress talk.
    TRY(NetPool pool, NetPool::start(NetKind::steered, networks.ahead(), networks.refills()));
    steered.emplace(std::move(pool));
  }
  return egresses->open(tenant, floor.ranges > 0 ? &ranges : nullptr, kept);
}

bool Workshop::wants_more() const noexcept {
  return berths.wants_more() || berths.wants_furniture() || networks.wants_more() ||
         (steered && steered->wants_more()) || ranges.wants_more() || groups.wants_more();
}

void Workshop::refill() {
  if (berths.wants_furniture()) return berths.furnish_one(*this);
  if (networks.wants_more()) return networks.refill();
  if (steered && steered->wants_more()) return steered->refill();
  if (ranges.wants_more()) return ranges.refill();
  groups.refill();
}

// Leaves the berth as it was only in that it may still have a pid 1.
std::variant<Sandbox, LaunchFailure> move_in(Berth& berth, const JudgedPlan& plan,
                                             Workshop& workshop) {
  if (!berth.furnished) {
    if (auto failure = furnish_berth(berth, plan, workshop)) return *std::move(failure);
  }
  return Sandbox{
      std::nullopt,          std::move(berth.range),   std::nullopt, std::move(berth.groups),
      std::move(berth.init), std::move(berth.control), os::Fd{}};
}

namespace {

std::optional<LaunchFailure> make(Launch& launch) {
  if (Status prepared = launch.prepare(); !prepared) {
    return LaunchFailure{"prepare", std::move(prepared).error()};
  }
  auto report = launch.start();
  if (!report) return LaunchFailure{"start", std::move(report).error()};
  if (!report->empty()) return read_report(*report);
  return std::nullopt;
}

std::variant<Sandbox, LaunchFailure> launch_from_nothing(const JudgedPlan& plan, Workshop& workshop,
                                                         Holder holder) {
  Launch launch{plan, workshop, holder};
  if (auto failure = make(launch)) return *std::move(failure);
  return launch.take();
}

}  // namespace

bool is_slow_to_begin(const frame::LaunchPlan& plan) noexcept {
  return plan.engine != frame::Engine::none || plan.setup.standby.has_value();
}

std::variant<Sandbox, LaunchFailure> launch(const JudgedPlan& plan, Workshop& workshop) {
  if (is_slow_to_begin(*plan)) {
    if (auto spare = workshop.spares.take(plan, workshop)) return *std::move(spare);
  }
  if (plan->engine == frame::Engine::machine && workshop.floor.saves_machines) {
    // Without one it starts from the beginning.
    static_cast<void>(save_like(workshop, plan->machine, patience_with(plan->machine)));
  }
  while (auto berth = workshop.berths.take(plan, workshop.sources)) {
    auto moved = move_in(*berth, plan, workshop);
    // One that has died meanwhile, or is about to, says nothing about the plan.
    const auto* const failure = std::get_if<LaunchFailure>(&moved);
    if (failure == nullptr) return moved;
    if (berth->init.is_alive() && failure->error.cause().value() != ESRCH) return moved;
  }
  return launch_from_nothing(plan, workshop, Holder::egress);
}

Result<MachineTemplate> save_machine(const JudgedPlan& plan, Workshop& workshop,
                                     std::chrono::seconds patience) {
  Launch launch{plan, workshop, Holder::nobody};
  TRY_DO(launch.prepare());
  TRY(MachineTemplate made, launch.will_be_saved());
  TRY(const std::string report, launch.start());
  if (!report.empty()) return read_report(report).error;
  {
    Sandbox machine = launch.take();
    pollfd end{.fd = machine.init.pidfd().get(), .events = POLLIN, .revents = 0};
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
    if (::poll(&end, 1, static_cast<int>(wait.count())) <= 0) {
      return Error{Errc::timeout, "it does not answer"};
    }
    TRY(const os::ExitStatus ended, std::move(machine.init).wait());
    if (ended != os::ExitStatus{.value = frame::kSavedMachine}) {
      return Error{Errc::unavailable, "a machine could not be saved"};
    }
  }
  TRY_DO(os::seal(made.memory));
  TRY_DO(os::seal(made.state));
  return made;
}

std::variant<Sandbox, LaunchFailure> launch_alone(const JudgedPlan& plan, Workshop& workshop) {
  return launch_from_nothing(plan, workshop, Holder::nobody);
}

std::variant<Spare, LaunchFailure> launch_ahead(const JudgedPlan& plan, Workshop& workshop) {
  Launch launch{plan, workshop, Holder::later};
  if (auto failure = make(launch)) return *std::move(failure);
  Sandbox sandbox = launch.take();
  return Spare{.sandbox = std::move(sandbox), .sockets = launch.take_sockets()};
}

}  // namespace cordon::launcher
