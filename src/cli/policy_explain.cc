// SPDX-License-Identifier: Apache-2.0
// cordon policy check, explain, show and schema: what is written, in words.
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/policy_verbs.h"
#include "policy/checked.h"
#include "policy/describe.h"
#include "policy/json_schema.h"
#include "policy/presets.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

json::object to_json(const policy::Description& description) {
  json::array lines;
  for (const auto& line : description.lines) {
    lines.push_back(json::object{{"topic", line.topic}, {"text", line.text}, {"at", line.at}});
  }
  json::array unenforced;
  for (const auto& key : description.unenforced)
    unenforced.push_back(json::object{{"key", key.key}, {"at", key.at}});
  json::array presets;
  for (const std::string& preset : description.presets) presets.emplace_back(preset);
  return {{"file", description.file},
          {"origin", to_string(description.origin)},
          {"extends", std::move(presets)},
          {"lines", std::move(lines)},
          {"not_enforced", std::move(unenforced)}};
}

json::value limit(const std::optional<std::uint64_t>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object to_json(const policy::Settings& settings) {
  const policy::Limits& limits = settings.limits;
  json::array capabilities;
  for (const std::string& name : settings.capabilities) capabilities.emplace_back(name);
  json::array require;
  for (const auto& [name, least] : settings.require) {
    require.emplace_back(least > 0 ? fmt::format("{}:{}", name, least) : name);
  }
  return {{"isolation", to_string(settings.isolation)},
          {"profile", to_string(settings.profile)},
          {"user", to_string(settings.user)},
          {"capabilities", std::move(capabilities)},
          {"require", std::move(require)},
          {"review", settings.review},
          {"secret_scanning", settings.secret_scanning},
          {"limits",
           {{"milli_cpus", limit(limits.milli_cpus)},
            {"memory", limit(limits.memory)},
            {"pids", limit(limits.pids)},
            {"disk", limit(limits.disk)},
            {"inodes", limit(limits.inodes)},
            {"open_files", limit(limits.open_files)},
            {"io", limit(limits.io)},
            {"wall_seconds", limit(limits.wall_seconds)},
            {"cpu_seconds", limit(limits.cpu_seconds)},
            {"output", limit(limits.output)},
            {"egress", limit(limits.egress)},
            {"requests_per_minute", limit(limits.requests_per_minute)},
            {"connections", limit(limits.connections)},
            {"bandwidth", limit(limits.bandwidth)}}}};
}

// The first comment of a preset says what it is for.
std::string_view summary_of(const policy::Preset& preset) {
  std::string_view text = preset.text;
  if (!text.starts_with("# ")) return {};
  return text.substr(2, text.find('\n') - 2);
}

void show_presets(const PolicyOptions& options, Context& context) {
  json::array all;
  for (const policy::Preset& preset : policy::all_presets()) {
    if (options.json) {
      all.push_back(json::object{{"name", preset.name}, {"summary", summary_of(preset)}});
    } else {
      context.out << fmt::format("{:<14}{}\n", preset.name, summary_of(preset));
    }
  }
  if (options.json) context.out << json::object{{"presets", std::move(all)}} << '\n';
}

void show_effective(const PolicyOptions& options, Context& context) {
  policy::Problems problems{"policy"};
  const auto policy = effective_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  if (options.json) {
    json::array documents;
    for (const auto& document : policy->documents())
      documents.push_back(to_json(describe(*document)));
    context.out << json::object{{"documents", std::move(documents)},
                                {"settings", to_json(policy->settings())}}
                << '\n';
    return;
  }
  std::string_view separator;
  for (const auto& document : policy->documents()) {
    context.out << separator << to_text(describe(*document));
    separator = "\nand, no wider than that,\n\n";
  }
}

}  // namespace

void policy_check(const PolicyOptions& options, Context& context) {
  policy::Problems problems{options.file};
  const auto policy = load_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  if (options.json) {
    context.out << json::object{{"ok", true}, {"file", options.file}, {"origin", options.origin}}
                << '\n';
  } else {
    context.out << fmt::format("{}: valid as a policy of origin {}\n", options.file,
                               options.origin);
  }
}

void policy_explain(const PolicyOptions& options, Context& context) {
  policy::Problems problems{options.file};
  const auto policy = load_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  const policy::Description description = describe(*policy->documents().back());
  if (options.json) {
    context.out << to_json(description) << '\n';
  } else {
    context.out << to_text(description);
  }
}

void policy_show(const PolicyOptions& options, bool effective, Context& context) {
  if (effective) return show_effective(options, context);
  if (options.file.empty()) return show_presets(options, context);
  const policy::Preset* const preset = policy::find_preset(options.file);
  if (preset == nullptr) {
    return report(no_such_preset(options.file), policy::Problems{options.file}, options, context);
  }
  if (options.json) {
    context.out << json::object{{"name", preset->name}, {"text", preset->text}} << '\n';
  } else {
    context.out << preset->text;
  }
}

void policy_schema(Context& context) { context.out << policy::json_schema(); }

}  // namespace cordon::cli
