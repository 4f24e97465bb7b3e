// SPDX-License-Identifier: Apache-2.0
// Sandboxes: create, list, look at, prolong, end.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "api/e2b/build_request.h"
#include "api/e2b/face.h"
#include "api/e2b/message.h"
#include "api/e2b/sandbox_request.h"
#include "api/rest/shown.h"
#include "async/deadline.h"
#include "base/bytes.h"
#include "gate/query.h"
#include "node/sandbox_ids.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kLargestBody = std::size_t{1} << 20U;
constexpr std::uint64_t kMostListed = 1000;
constexpr std::uint64_t kListed = 100;
constexpr std::chrono::seconds kUsageWithin{5};
// How long one that is paused is kept for who wants it back.
constexpr std::uint64_t kKeptPaused = std::uint64_t{24} * 3600;  // seconds
// How long processors are watched to tell how busy they are.
constexpr std::chrono::milliseconds kMeasured{100};
constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

std::map<std::string, std::string> metadata_of(const node::Labels& labels) {
  std::map<std::string, std::string> own;
  for (const auto& [name, value] : labels) {
    if (!name.starts_with(kOwnLabels)) own.emplace(name, value);
  }
  return own;
}

bool has_all(const node::Labels& own, const node::Labels& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto found = own.find(label.first);
    return found != own.end() && found->second == label.second;
  });
}

// Where the next page begins: those before it in the order were shown.
std::string page_mark(const ListedSandbox& last) {
  return fmt::format("{}-{}", last.started.time_since_epoch().count(), last.id);
}

auto order_of(const ListedSandbox& sandbox) {
  return std::tuple{sandbox.started.time_since_epoch().count(), std::string_view{sandbox.id}};
}

// What names of ports are put in front of: the name by which the client knows us. An address has no
// names below it.
std::string domain_of(const Call& call) {
  const http::Authority& host = call.exchange.head().host;
  const bool is_name = host.host.find_first_not_of("0123456789.:") != std::string::npos &&
                       host.host.find(':') == std::string::npos;
  return is_name ? to_string(host) : std::string{};
}

Result<std::uint64_t> seconds_of(const Message& message, std::string_view name,
                                 std::uint64_t usual) {
  TRY(const auto seconds, message.number(name));
  if (!seconds) return usual;
  if (*seconds < 0 || *seconds > wire::kLongestLife) {
    return Error{Errc::invalid,
                 fmt::format("`{}` is from 0 to {} seconds", name, wire::kLongestLife)};
  }
  return static_cast<std::uint64_t>(*seconds);
}

// Of all that it may use.
double percent_of(std::chrono::microseconds part, std::uint64_t processors) {
  const std::chrono::microseconds whole = kMeasured * processors;
  return 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// The template that a create names, where it was built here.
Result<std::optional<node::Template>> template_built(std::string_view body, std::string_view owner,
                                                     const std::string& store) {
  TRY(const std::string named, template_in(body));
  const auto name = read_template_name(named);
  if (is_usual_template(named) || !name) return std::optional<node::Template>{};
  return node::find_template(store, owner, name->alias, name->tag);
}

TemplateRoot root_of(const node::Template& built) {
  return {.image = built.image.name,
          .processors = built.processors,
          .memory_megabytes = built.memory_megabytes,
          .user = built.image.config.user,
          .directory = built.image.config.directory};
}

async::Task<void> until_it_answers(std::shared_ptr<node::Resident> resident) {
  const auto usage = co_await resident->sandbox().usage();
  if (!usage) co_return usage.error();
  co_return Status{};
}

}  // namespace

Result<Face::Inside> Face::living(const Call& call) const {
  const Error none{Errc::not_found,
                   fmt::format("sandbox \"{}\" doesn't exist", call.places.front())};
  const auto id = SandboxId::parse(call.places.front());
  if (!id || !parts_.residents.knows(*id)) return none;
  auto resident = parts_.residents.find(*id);
  if (!resident || resident->is_ending()) return none;
  if (!call.tenant.empty() && resident->facts().tenant != call.tenant) return none;
  return resident;
}

std::string Face::made_json(const Call& call, const node::Resident& resident) const {
  const std::string id = resident.facts().id.text();
  return to_json(MadeSandbox{.id = id,
                             .template_id = template_of(resident.facts().labels),
                             .access_token = door_of(resident, Door::services),
                             .traffic_token = door_of(resident, Door::traffic),
                             .domain = domain_of(call)});
}

ListedSandbox Face::listed(const node::Resident& resident) const {
  const node::ResidentFacts& facts = resident.facts();
  const frame::GroupLimits& limits = resident.lowered().plan.limits;
  return {.id = facts.id.text(),
          .template_id = template_of(facts.labels),
          .started = facts.created,
          .ends = facts.expires,
          .metadata = metadata_of(facts.labels),
          .processors = (limits.milli_cpus.value_or(1000) + 999) / 1000,
          .memory_megabytes = limits.memory.value_or(0) / kMebi,
          .disk_megabytes = resident.lowered().plan.disk.bytes / kMebi,
          .is_paused = resident.is_paused()};
}

std::string Face::row_of(const node::Resident& resident) const {
  const bool is_shown =
      !resident.is_ending() && !resident.facts().labels.contains(std::string{kBuildLabel});
  return is_shown ? to_json(listed(resident)) : std::string{};
}

async::Task<void> Face::create(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const auto built,
         template_built(body, node::launcher_name_of(owner_of(call)), parts_.settings.image_store));
  std::optional<TemplateRoot> root;
  if (built) root = root_of(*built);
  node::WhyNotAdmitted why;
  auto request = read_sandbox_request(body, why.problems, root ? &*root : nullptr);
  if (!request) co_return co_await answer_error(call, problem_with(request.error(), why));
  CO_TRY(const auto unit, unit_of(call));
  node::CreateOrder order{.tenant = owner_of(call),
                          .request = *std::move(request),
                          .key = {},
                          .standby = {},
                          .digest = sha256({as_bytes(body)}),
                          .unit = unit};
  if (template_of(order.request.labels) == kInterpreterTemplate)
    order.standby = supervisor_standby();
  const auto made = co_await parts_.residents.create(std::move(order), call.authority, why);
  if (!made) co_return co_await answer_error(call, problem_with(made.error(), why));
  if (built) {
    const Status begun = co_await begin_template(*made, built->image);
    if (!begun) {
      static_cast<void>(co_await parts_.residents.end(*made, {.ending = Ending::killed}));
      co_return begun;
    }
  }
  co_return co_await answer_json(call, 201, made_json(call, **made));
}

async::Task<void> Face::prolong(Inside resident, std::uint64_t seconds, bool may_shorten) {
  const WallTime expires = parts_.clock.wall() + std::chrono::seconds{seconds};
  if (!may_shorten && expires <= resident->facts().expires) co_return Status{};
  node::WhyNotAdmitted why;
  co_return co_await parts_.residents.change(resident,
                                             {.expires = expires, .labels = {}, .policy = {}}, why);
}

async::Task<void> Face::connect(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const std::uint64_t seconds, seconds_of(message, "timeout", kUsualLife));
  const bool was_paused = resident->is_paused();
  if (was_paused) {
    CO_TRY_DO(co_await resume(resident, seconds));
  } else {
    CO_TRY_DO(co_await prolong(resident, seconds, false));
  }
  co_return co_await answer_json(call, was_paused ? 201 : 200, made_json(call, *resident));
}

// What runs in it stands still, in its memory, until it is asked for again; its label says so to
// the next node too.
async::Task<void> Face::pause(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const auto with_memory, message.boolean("memory"));
  if (!with_memory.value_or(true)) {
    co_return Error{Errc::invalid, "`memory`: this node keeps it; files alone are not kept"};
  }
  if (resident->is_paused()) co_return Error{Errc::exists, "the sandbox is paused already"};
  node::Labels labels = resident->facts().labels;
  labels.emplace(node::kPausedLabel, "true");
  node::WhyNotAdmitted why;
  const WallTime kept = parts_.clock.wall() + std::chrono::seconds{kKeptPaused};
  const Status written = co_await parts_.residents.change(
      resident, {.expires = kept, .labels = std::move(labels), .policy = {}}, why);
  // Its label holds, also where it could not be written.
  resident->freeze();
  CO_TRY_DO(written);
  // What is said inside comes in order: who answers this has stopped all.
  CO_TRY_DO(co_await async::within(kUsageWithin, until_it_answers(resident)));
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::resume(Inside resident, std::uint64_t seconds) {
  node::Labels labels = resident->facts().labels;
  labels.erase(std::string{node::kPausedLabel});
  node::WhyNotAdmitted why;
  const WallTime expires = parts_.clock.wall() + std::chrono::seconds{seconds};
  const Status written = co_await parts_.residents.change(
      resident, {.expires = expires, .labels = std::move(labels), .policy = {}}, why);
  resident->thaw();
  co_return written;
}

async::Task<void> Face::set_timeout(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const std::uint64_t seconds, seconds_of(message, "timeout", kUsualLife));
  CO_TRY_DO(co_await prolong(resident, seconds, true));
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::refresh(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const std::uint64_t seconds, seconds_of(message, "duration", 60));
  CO_TRY_DO(co_await prolong(resident, seconds, false));
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::change_network(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  node::WhyNotAdmitted why;
  auto request = read_network_change(body, why.problems);
  if (!request) co_return co_await answer_error(call, problem_with(request.error(), why));
  const auto changed = co_await parts_.residents.change(
      resident, {.expires = {}, .labels = {}, .policy = std::move(request->policy)}, why);
  if (!changed) co_return co_await answer_error(call, problem_with(changed.error(), why));
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::list(Call& call) {
  CO_TRY(const auto limit, number_of(call, "limit"));
  const std::uint64_t most = std::clamp<std::uint64_t>(limit.value_or(kListed), 1, kMostListed);
  CO_TRY(const node::Labels wanted, gate::wanted_metadata(call.query));
  const auto state = call.query.find("state");
  const auto wants = [&](std::string_view name) {
    return state == call.query.end() || state->second.find(name) != std::string::npos;
  };
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const auto accept = [&](const node::Resident& resident) {
    const node::ResidentFacts& facts = resident.facts();
    if (resident.is_ending() || !wants(resident.is_paused() ? "paused" : "running")) return false;
    if (!call.tenant.empty() && facts.tenant != call.tenant) return false;
    if (facts.labels.contains(std::string{kBuildLabel})) return false;
    const token::Query query{.operation = token::Operation::sandbox_read,
                             .tenant = facts.tenant,
                             .sandbox = facts.id.text()};
    return static_cast<bool>(call.authority.may(query, now)) && has_all(facts.labels, wanted);
  };
  std::vector<ListedSandbox> all;
  for (const auto& resident : parts_.residents.list("", parts_.residents.size(), accept)) {
    all.push_back(listed(*resident));
  }
  const auto order = call.query.find("order");
  const bool rises = order != call.query.end() && order->second == "asc";
  std::ranges::sort(all, [&](const ListedSandbox& one, const ListedSandbox& other) {
    return rises ? order_of(one) < order_of(other) : order_of(other) < order_of(one);
  });
  if (const auto mark = call.query.find("nextToken"); mark != call.query.end()) {
    const auto last = std::ranges::find(all, mark->second, page_mark);
    if (last == all.end()) co_return Error{Errc::invalid, "`nextToken`: the page before is gone"};
    all.erase(all.begin(), last + 1);
  }
  http::Fields fields = stream_fields(call, "application/json");
  if (all.size() > most) {
    all.resize(most);
    fields.push_back({"X-Next-Token", page_mark(all.back())});
  }
  co_return co_await call.exchange.answer(200, std::move(fields), to_json(all));
}

async::Task<void> Face::info(Call& call) {
  CO_TRY(const auto resident, living(call));
  const SandboxDetail detail{.listed = listed(*resident),
                             .access_token = door_of(*resident, Door::services),
                             .domain = {},
                             .reaches_all = resident->lowered().plan.network};
  co_return co_await answer_json(call, 200, to_json(detail));
}

async::Task<void> Face::kill(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY_DO(co_await parts_.residents.end(resident, {.ending = Ending::killed}));
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::metrics(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const frame::Usage usage,
         co_await async::within(kUsageWithin, resident->sandbox().usage()));
  const node::UseNow before = resident->use_now();
  asio::steady_timer moment{executor_, kMeasured};
  co_await moment.async_wait(asio::use_awaitable);
  const node::UseNow now_used = resident->use_now();
  const ListedSandbox known = listed(*resident);
  const SandboxMetrics now{
      .time = parts_.clock.wall(),
      .processors = known.processors,
      .processor_percent = percent_of(now_used.cpu - before.cpu, known.processors),
      .memory = now_used.memory,
      .memory_total = known.memory_megabytes * kMebi,
      .disk = usage.disk.bytes,
      .disk_total = known.disk_megabytes * kMebi};
  co_return co_await answer_json(call, 200, to_json(now));
}

}  // namespace cordon::api::e2b
