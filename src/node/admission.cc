// SPDX-License-Identifier: Apache-2.0
#include "node/admission.h"

#include <algorithm>

#include <fmt/format.h>

#include "frame/placeholder.h"
#include "node/image_roots.h"
#include "node/release_bounds.h"
#include "node/sandbox_ids.h"
#include "node/survey.h"
#include "os/file.h"
#include "os/random.h"
#include "plan/narrow.h"
#include "plan/trust.h"
#include "policy/checked.h"
#include "policy/parse.h"

namespace cordon::node {
namespace {

constexpr std::size_t kLargestCeiling = std::size_t{1} << 20U;
constexpr DefaultLimits kDefaults;

Result<policy::Policy> read_ceiling(const std::string& path) {
  TRY(const std::string text, os::read_file(os::at_cwd(), path.c_str(), kLargestCeiling));
  policy::Problems problems{path};
  auto document = policy::parse(text, path, policy::syntax_of(path, text), &problems);
  if (!document) return problems.to_error();
  auto checked = policy::check(*std::move(document), policy::Origin::site, {}, &problems);
  if (!checked) return problems.to_error();
  return checked;
}

template <class T>
void set_default(policy::Maybe<T>& limit, T value) {
  if (!limit) limit = policy::Stated<T>{value, {}};
}

// Each is as if the request had said it, without a line that could be shown.
void add_defaults(policy::Resources& resources) {
  set_default(resources.milli_cpus, kDefaults.milli_cpus);
  set_default(resources.memory, kDefaults.memory);
  set_default(resources.pids, kDefaults.pids);
  const std::uint64_t memory = resources.memory ? resources.memory->value : kDefaults.memory;
  set_default(resources.disk, std::min(kDefaults.disk, memory));
}

// The node ends every sandbox in time, whether its policy says so or not.
void state_life(Enforcement& enforcement, std::chrono::seconds life) {
  const auto wall = std::ranges::find(enforcement.mechanisms, "wall_time", &Mechanism::name);
  if (wall == enforcement.mechanisms.end() || wall->hold != Hold::absent) return;
  wall->hold = Hold::held;
  wall->detail = fmt::format("{} s, unless it is changed", life.count());
}

bool gives(const policy::CheckedDocument& checked, const std::string& name) {
  const policy::Credentials& credentials = checked.document().credentials;
  if (credentials.mode && credentials.mode->value == policy::CredentialMode::none) return false;
  const auto& grants = credentials.grants.items;
  return checked.narrows_only() ||
         std::ranges::find(grants, name, &policy::Grant::name) != grants.end();
}

// Those that were asked for and that every document of `policy` gives, each with a placeholder that
// nobody can guess.
Result<std::vector<HeldGrant>> grants_of(const std::vector<policy::Grant>& asked,
                                         const policy::Policy& policy) {
  std::vector<HeldGrant> held;
  for (const policy::Grant& grant : asked) {
    const bool by_all = std::ranges::all_of(
        policy.documents(), [&](const auto& checked) { return gives(*checked, grant.name); });
    if (!by_all) continue;
    // What a request may name; of any other a node knows nothing.
    if (grant.source != policy::SecretSource::secret) {
      return Error{Errc::unavailable,
                   "credentials.grants: a node hands out secrets of the tenant "
                   "only; use from = \"secret:NAME\""};
    }
    TRY(const auto random, os::random_bytes<frame::kPlaceholderBytes>());
    held.push_back({grant, frame::placeholder_from(random)});
  }
  return held;
}

template <class T>
void take_away(std::optional<T>& budget, T spent) {
  if (budget) *budget -= std::min(*budget, spent);
}

// Less at the end than at the beginning, and never a second chance.
void spend(plan::Lowered& lowered, const Spent& spent) {
  take_away(lowered.budgets.cpu, std::chrono::ceil<std::chrono::seconds>(
                                     std::chrono::milliseconds{spent.cpu_milliseconds}));
  take_away(lowered.budgets.output, spent.output);
  if (lowered.network) take_away(lowered.network->budgets.bytes, spent.sent);
}

void add_usual_limits(policy::PolicyDocument& document) { add_defaults(document.resources); }

}  // namespace

Result<Admitted> Admission::admit_again(const SandboxId& id, const std::string& tenant,
                                        const Papers& papers, const std::vector<HeldGrant>& grants,
                                        std::chrono::seconds life, WhyNotAdmitted& why) const {
  TRY(policy::Policy policy, policy_of(papers.documents, why.problems, add_usual_limits));
  policy = under_own(policy, tenant);
  if (held_) policy = held_->release->narrowed(policy, tenant);
  TRY(plan::Lowered lowered, lower(id, tenant, policy, Purpose::use, why));
  for (const std::string& text : papers.narrowings) {
    TRY(policy::PolicyDocument by,
        policy::parse(text, "request", policy::Syntax::json, &why.problems));
    TRY(lowered, plan::narrow(lowered, std::move(by), why.problems));
  }
  spend(lowered, papers.spent);
  state_life(lowered.enforcement, life);
  std::vector<HeldGrant> left;
  for (const HeldGrant& held : grants) {
    const bool by_all =
        lowered.network && std::ranges::all_of(policy.documents(), [&](const auto& checked) {
          return gives(*checked, held.grant.name);
        });
    if (!by_all) continue;
    if (!held.grant.env.empty()) plan::add_variable(lowered, held.grant.env, held.placeholder);
    left.push_back(held);
  }
  return Admitted{std::move(policy), std::move(lowered), life, std::move(left)};
}

Result<Admission> Admission::create(const Settings& settings, HostFacts host) {
  Admission admission{settings, std::move(host)};
  if (!settings.ceiling.empty()) {
    TRY(auto ceiling, read_ceiling(settings.ceiling));
    admission.ceiling_ = std::move(ceiling);
  }
  for (const auto& [name, tenant] : settings.tenants) {
    if (tenant.ceiling.empty()) continue;
    TRY(auto ceiling, read_ceiling(tenant.ceiling));
    admission.tenant_ceilings_.emplace(name, std::move(ceiling));
  }
  return admission;
}

void Admission::hold_against(std::shared_ptr<const gate::Release> release) {
  held_ = release ? std::make_unique<Held>(Held{.release = std::move(release)}) : nullptr;
}

ReleaseCounts Admission::release_counts() const noexcept {
  return held_ ? held_->counts : ReleaseCounts{};
}

policy::Policy Admission::under_own(const policy::Policy& policy, const std::string& tenant) const {
  const policy::Policy narrower = ceiling_ ? policy::attenuate(*ceiling_, policy) : policy;
  const auto own = tenant_ceilings_.find(tenant);
  return own == tenant_ceilings_.end() ? narrower : policy::attenuate(own->second, narrower);
}

Status Admission::check(const gate::Release& release) const {
  TRY_DO(within_own_quotas(release, *settings_));
  if (release.ceiling && ceiling_) TRY_DO(within_own_ceiling(*release.ceiling, *ceiling_, ""));
  for (const auto& [name, tenant] : release.tenants) {
    if (!tenant.ceiling) continue;
    const auto own = tenant_ceilings_.find(name);
    if (ceiling_) TRY_DO(within_own_ceiling(*tenant.ceiling, *ceiling_, name));
    if (own != tenant_ceilings_.end()) {
      TRY_DO(within_own_ceiling(*tenant.ceiling, own->second, name));
    }
  }
  TRY_DO(check_plainest(release, {}));
  for (const auto& [name, tenant] : release.tenants) {
    if (tenant.ceiling) TRY_DO(check_plainest(release, name));
  }
  return {};
}

// Where none can be made without it either it is not the release that is wrong.
Status Admission::check_plainest(const gate::Release& release, const std::string& tenant) const {
  TRY(policy::PolicyDocument nothing, policy::parse("", "request", policy::Syntax::toml));
  add_defaults(nothing.resources);
  TRY(const policy::Policy asked,
      policy::check(std::move(nothing), policy::Origin::request, {}, nullptr));
  const policy::Policy own = under_own(asked, tenant);
  TRY(const auto random, os::random_bytes<10>());
  WhyNotAdmitted why;
  const SandboxId id = SandboxId::from_bytes(random);
  const auto made = lower(id, tenant, release.narrowed(own, tenant), Purpose::use, why);
  if (made || !lower(id, tenant, own, Purpose::use, why)) return {};
  return Error{Errc::invalid,
               fmt::format("no sandbox{} could be made here under it: {}",
                           tenant.empty() ? "" : " of tenant " + tenant, made.error().text())};
}

Result<plan::Lowered> Admission::lower(const SandboxId& id, const std::string& tenant,
                                       const policy::Policy& policy, Purpose purpose,
                                       WhyNotAdmitted& why) const {
  plan::Situation situation{.id = id};
  situation.home = "/nonexistent";  // no request can name anything below it
  situation.caller_name = "user";
  for (const auto& [name, directory] : settings_->images) {
    situation.images.emplace(name, plan::ImageRoot{.path = directory, .digest = {}});
  }
  situation.default_image = settings_->default_image;
  situation.tenant = launcher_name_of(tenant);
  TRY_DO(add_images(settings_->image_store, policy, settings_->default_image, situation));
  if (purpose == Purpose::build) {
    for (auto& [name, image] : situation.images) image.has_layer = true;
  }
  situation.has_tunnels = true;
  if (policy.settings().isolation == Isolation::gvisor) {
    if (host_.gvisor_traces) situation.monitor = plan::MonitorSource::engine;
  } else if (policy.settings().isolation == Isolation::microvm) {
    if (host_.machine_traces) situation.monitor = plan::MonitorSource::machine;
  } else if (host_.has(Feature::ebpf)) {
    situation.monitor = plan::MonitorSource::kernel;
  }
  TRY(situation.survey, node::survey(policy, situation));
  return plan::lower(policy, host_, situation, &why.denials);
}

Result<Admitted> Admission::admit(const SandboxId& id, const std::string& tenant,
                                  wire::CreateRequest request, const token::Authority& authority,
                                  WhyNotAdmitted& why, Purpose purpose) const {
  add_defaults(request.policy.resources);
  TRY(policy::Policy policy,
      policy::check(std::move(request.policy), policy::Origin::request, {}, &why.problems));
  const std::vector<policy::Grant> asked =
      policy.documents().front()->document().credentials.grants.items;
  TRY(policy, authority.under_ceilings(under_own(policy, tenant), {}));
  const policy::Policy unreleased = policy;
  if (held_) policy = held_->release->narrowed(policy, tenant);
  auto tried = lower(id, tenant, policy, purpose, why);
  if (!tried) {
    WhyNotAdmitted unheard;
    if (held_ && lower(id, tenant, unreleased, purpose, unheard)) ++held_->counts.turned_away;
    return std::move(tried).error();
  }
  plan::Lowered lowered = *std::move(tried);
  std::chrono::seconds life = kDefaults.life;
  if (request.timeout_seconds) life = std::chrono::seconds{*request.timeout_seconds};
  if (lowered.budgets.wall) {
    life = request.timeout_seconds ? std::min(life, *lowered.budgets.wall) : *lowered.budgets.wall;
  }
  state_life(lowered.enforcement, life);
  std::vector<HeldGrant> grants;
  if (lowered.network) {
    TRY(grants, grants_of(asked, policy));
  }
  for (const HeldGrant& held : grants) {
    if (!held.grant.env.empty()) plan::add_variable(lowered, held.grant.env, held.placeholder);
  }
  if (held_) ++held_->counts.admitted;
  return Admitted{std::move(policy), std::move(lowered), life, std::move(grants)};
}

}  // namespace cordon::node
