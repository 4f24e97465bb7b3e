// SPDX-License-Identifier: Apache-2.0
#include "cli/policy_source.h"

#include <cassert>
#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/registries.h"
#include "cli/text_file.h"
#include "policy/parse.h"
#include "policy/presets.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

Result<policy::PolicyDocument> load_document(const std::string& file, policy::Problems& problems) {
  TRY(const std::string text, read_text_file(file));
  return policy::parse(text, file, policy::syntax_of(file, text), &problems);
}

Result<policy::Policy> preset_policy(const std::string& name,
                                     const policy::Registries& registries) {
  const policy::Preset* const preset = policy::find_preset(name);
  if (preset == nullptr)
    return Error{Errc::invalid, "there is no preset `" + name + "`: cordon policy show lists them"};
  TRY(auto document, policy::parse(preset->text, "preset:" + name, policy::Syntax::toml));
  return policy::check(std::move(document), policy::Origin::builtin, registries);
}

// The files that hold beside the workspace's own, the widest authority first.
struct Layer {
  std::string file;
  policy::Origin origin;
};
std::vector<Layer> layers(const Context& context) {
  std::vector<Layer> found = {{"/etc/cordon/policy.toml", policy::Origin::site}};
  const auto home = context.environment("HOME");
  if (const auto config = context.environment("XDG_CONFIG_HOME"); config && !config->empty()) {
    found.push_back({*config + "/cordon/policy.toml", policy::Origin::user});
  } else if (home) {
    found.push_back({*home + "/.config/cordon/policy.toml", policy::Origin::user});
  }
  std::erase_if(found, [](const Layer& layer) {
    std::error_code ignored;
    return !std::filesystem::exists(layer.file, ignored);
  });
  return found;
}

}  // namespace

Result<policy::Policy> load_policy(const PolicyOptions& options, const Context& context,
                                   policy::Problems& problems) {
  TRY(auto document, load_document(options.file, problems));
  const policy::Registries registries = look_up_registries(context);
  const auto origin = policy::origin_from(options.origin);
  assert(origin && "the command line allows only known origins");
  if (*origin != policy::Origin::workspace)
    return policy::check(std::move(document), *origin, registries, &problems);
  TRY(const policy::Policy base, preset_policy(options.under, registries));
  return policy::narrow(base, std::move(document), registries, &problems);
}

Result<policy::Policy> effective_policy(const PolicyOptions& options, const Context& context,
                                        policy::Problems& problems) {
  const policy::Registries registries = look_up_registries(context);
  std::optional<policy::Policy> whole;
  for (const Layer& layer : layers(context)) {
    TRY(auto document, load_document(layer.file, problems));
    TRY(policy::Policy checked,
        policy::check(std::move(document), layer.origin, registries, &problems));
    whole = whole ? policy::attenuate(*whole, checked) : std::move(checked);
  }
  if (!whole) {
    TRY(policy::Policy preset, preset_policy(options.under, registries));
    whole = std::move(preset);
  }
  std::error_code ignored;
  if (!std::filesystem::exists("cordon.toml", ignored)) return *std::move(whole);
  TRY(auto document, load_document("cordon.toml", problems));
  return policy::narrow(*whole, std::move(document), registries, &problems);
}

void report(const Error& error, const policy::Problems& problems, const PolicyOptions& options,
            Context& context) {
  context.exit = exit_of(error.code());
  if (options.json) {
    json::array all;
    for (const policy::Problem& problem : problems.all()) {
      all.push_back(json::object{{"file", problem.file},
                                 {"line", problem.mark.line},
                                 {"column", problem.mark.column},
                                 {"message", problem.message}});
    }
    if (all.empty()) all.push_back(json::object{{"message", error.text()}});
    context.out << json::object{{"ok", false}, {"problems", std::move(all)}} << '\n';
    return;
  }
  if (problems.empty()) return fail(context, error);
  for (const policy::Problem& problem : problems.all())
    context.err << "cordon: " << to_string(problem) << '\n';
}

}  // namespace cordon::cli
