// SPDX-License-Identifier: Apache-2.0
#include "cli/completion_tree.h"

#include <CLI/CLI.hpp>

namespace cordon::cli {
namespace {

// CLI11 shows a closed set of values as "TEXT:{one,other}".
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::string choice;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ',') {
    if (c != ',') {
      choice += c;
    } else if (!choice.empty()) {
      choices.push_back(std::exchange(choice, {}));
    }
  }
  return choices;
}

CompletionOption option_of(const CLI::Option& option) {
  CompletionOption made{.names = {},
                        .meaning = option.get_description(),
                        .takes_value = option.get_items_expected_max() > 0,
                        .choices = choices_of(option.get_type_name())};
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  return made;
}

// A verb that leaves all words behind its flags to a command says in its footer what the first is.
bool takes_sandbox(const CLI::App& app) {
  if (app.get_footer().starts_with("SANDBOX")) return true;
  return !app.get_options([](const CLI::Option* option) {
               return option->get_positional() && option->get_name(true) == "SANDBOX";
             })
              .empty();
}

CompletionVerb verb_of(const CLI::App& app, const std::string& above) {
  CompletionVerb verb{.path = above.empty() ? app.get_name() : above + ' ' + app.get_name(),
                      .name = app.get_name(),
                      .meaning = app.get_description(),
                      .takes_sandbox = takes_sandbox(app)};
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; }))
    verb.verbs.push_back(verb_of(*each, verb.path));
  for (const CLI::Option* const each : app.get_options()) {
    if (each->get_group().empty()) continue;  // hidden
    if (each->nonpositional()) verb.options.push_back(option_of(*each));
  }
  return verb;
}

}  // namespace

CompletionVerb completion_tree(const CLI::App& app) { return verb_of(app, {}); }

std::vector<const CompletionVerb*> with_all_below(const CompletionVerb& verb) {
  std::vector<const CompletionVerb*> all{&verb};
  for (const CompletionVerb& each : verb.verbs) {
    const auto below = with_all_below(each);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace cordon::cli
