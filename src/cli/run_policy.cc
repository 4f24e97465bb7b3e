// SPDX-License-Identifier: Apache-2.0
#include "cli/run_policy.h"

#include <filesystem>

#include <fmt/format.h>

#include "cli/policy_source.h"
#include "cli/registries.h"
#include "policy/extend.h"
#include "policy/parse.h"
#include "policy/presets.h"

namespace cordon::cli {
namespace {

// A flag repeats what a file says of the wall, or strengthens it.
Result<policy::PolicyDocument> laid_over(const policy::PolicyDocument& flags,
                                         const policy::PolicyDocument& file) {
  if (flags.isolation && file.isolation && flags.isolation->value < file.isolation->value) {
    return Error{Errc::denied,
                 fmt::format("--isolation {}: {} asks for {}, and a flag may only strengthen it",
                             to_string(flags.isolation->value),
                             policy::to_string(file, file.isolation->place),
                             to_string(file.isolation->value))};
  }
  return policy::lay_over(flags, file);
}

Result<policy::PolicyDocument> own_document(const RunOptions& options, const Context& context,
                                            policy::Problems& problems) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (error) return Error{Errc::not_found, "the current directory: " + error.message()};
  TRY(const std::string text, policy_of_flags(options, here));
  TRY(auto flags, policy::parse(text, "command line", policy::Syntax::toml, &problems));
  if (!options.policy.empty()) {
    TRY(const auto file, load_document(options.policy, problems));
    return laid_over(flags, file);
  }
  if (!options.preset.empty()) return flags;
  TRY(const auto layer, user_layer(context));
  if (!layer) return flags;
  TRY(const auto file, load_document(*layer, problems));
  return laid_over(flags, file);
}

}  // namespace

Result<policy::Policy> policy_of_run(const RunOptions& options, const std::string& workspace,
                                     const Context& context, policy::Problems& problems) {
  if (!options.preset.empty() && policy::find_preset(options.preset) == nullptr) {
    return no_such_preset(options.preset);
  }
  // Looked up where a document asks: it takes as long as all the rest of this.
  const auto registries_for = [&](const policy::PolicyDocument& document) {
    return policy::may_need_registries(document) ? look_up_registries(context, workspace)
                                                 : policy::Registries{};
  };
  TRY(auto document, own_document(options, context, problems));
  const policy::Registries own_registries = registries_for(document);
  TRY(policy::Policy whole,
      policy::check(std::move(document), policy::Origin::user, own_registries, &problems));
  TRY(const auto site, site_layer());
  if (site) {
    TRY(auto ceiling, load_document(*site, problems));
    const policy::Registries registries = registries_for(ceiling);
    TRY(const policy::Policy checked,
        policy::check(std::move(ceiling), policy::Origin::site, registries, &problems));
    whole = policy::attenuate(checked, whole);
  }
  const std::string own = workspace + "/cordon.toml";
  TRY(const bool narrowed, is_there(own));
  // A file that the caller names as the policy is not asked a second time as the workspace's.
  std::error_code ignored;
  if (!narrowed ||
      (!options.policy.empty() && std::filesystem::equivalent(own, options.policy, ignored))) {
    return whole;
  }
  TRY(auto file, load_document(own, problems));
  const policy::Registries registries = registries_for(file);
  return policy::narrow(whole, std::move(file), registries, &problems);
}

}  // namespace cordon::cli
