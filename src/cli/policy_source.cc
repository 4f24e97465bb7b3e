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

Result<policy::Policy> preset_policy(const std::string& name,
                                     const policy::Registries& registries) {
  const policy::Preset* const preset = policy::find_preset(name);
  if (preset == nullptr) return no_such_preset(name);
  TRY(auto document, policy::parse(preset->text, "preset:" + name, policy::Syntax::toml));
  return policy::check(std::move(document), policy::Origin::builtin, registries);
}

// What `cordon run` would bind as the workspace.
std::string here() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

// The files that hold beside the workspace's own, the widest authority first.
struct Layer {
  std::string file;
  policy::Origin origin;
};
Result<std::vector<Layer>> layers(const Context& context) {
  std::vector<Layer> found;
  TRY(const auto site, site_layer());
  if (site) found.push_back({*site, policy::Origin::site});
  TRY(const auto user, user_layer(context));
  if (user) found.push_back({*user, policy::Origin::user});
  return found;
}

Result<std::optional<std::string>> if_there(std::string file) {
  TRY(const bool there, is_there(file));
  if (!there) return std::optional<std::string>{};
  return std::optional<std::string>{std::move(file)};
}

}  // namespace

Result<policy::PolicyDocument> load_document(const std::string& file, policy::Problems& problems) {
  TRY(const std::string text, read_text_file(file));
  return policy::parse(text, file == "-" ? "stdin" : file, policy::syntax_of(file, text),
                       &problems);
}

Result<bool> is_there(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  if (error) return Error{Errc::not_found, file + ": " + error.message()};
  return true;
}

Result<std::optional<std::string>> site_layer() { return if_there("/etc/cordon/policy.toml"); }

Result<std::optional<std::string>> user_layer(const Context& context) {
  if (const auto config = context.environment("XDG_CONFIG_HOME"); config && !config->empty()) {
    return if_there(*config + "/cordon/policy.toml");
  }
  if (const auto home = context.environment("HOME")) {
    return if_there(*home + "/.config/cordon/policy.toml");
  }
  return std::optional<std::string>{};
}

Error no_such_preset(const std::string& name) {
  return {Errc::not_found, "there is no preset `" + name + "`: cordon policy show lists them"};
}

Result<policy::Policy> load_policy(const PolicyOptions& options, const Context& context,
                                   policy::Problems& problems) {
  TRY(auto document, load_document(options.file, problems));
  const policy::Registries registries = look_up_registries(context, here());
  const auto origin = policy::origin_from(options.origin);
  assert(origin && "the command line allows only known origins");
  if (*origin != policy::Origin::workspace)
    return policy::check(std::move(document), *origin, registries, &problems);
  TRY(const policy::Policy base, preset_policy(options.under, registries));
  return policy::narrow(base, std::move(document), registries, &problems);
}

Result<policy::Policy> effective_policy(const PolicyOptions& options, const Context& context,
                                        policy::Problems& problems) {
  const policy::Registries registries = look_up_registries(context, here());
  std::optional<policy::Policy> whole;
  TRY(const auto found, layers(context));
  for (const Layer& layer : found) {
    TRY(auto document, load_document(layer.file, problems));
    TRY(policy::Policy checked,
        policy::check(std::move(document), layer.origin, registries, &problems));
    whole = whole ? policy::attenuate(*whole, checked) : std::move(checked);
  }
  if (!whole) {
    TRY(policy::Policy preset, preset_policy(options.under, registries));
    whole = std::move(preset);
  }
  TRY(const bool narrowed, is_there("cordon.toml"));
  if (!narrowed) return *std::move(whole);
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
