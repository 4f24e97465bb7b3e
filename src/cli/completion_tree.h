// SPDX-License-Identifier: Apache-2.0
// The command line as data, for whatever completes it: read off the verbs themselves. (pure)
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cordon::cli {

struct CompletionOption {
  std::vector<std::string> names;  // "-f", "--follow"
  std::string meaning;
  bool takes_value = false;
  std::vector<std::string> choices;  // all that its value may be; empty: anything
};

struct CompletionVerb {
  std::string path;  // "cordon policy check"
  std::string name;  // "check"
  std::string meaning;
  std::vector<CompletionVerb> verbs;
  std::vector<CompletionOption> options;
  bool takes_sandbox = false;  // the id of one
};

CompletionVerb completion_tree(const CLI::App& app);

// Of all verbs, this one first.
std::vector<const CompletionVerb*> with_all_below(const CompletionVerb& verb);

// A script for the shell of this name.
std::string bash_completion(const CompletionVerb& whole);
std::string zsh_completion(const CompletionVerb& whole);
std::string fish_completion(const CompletionVerb& whole);

}  // namespace cordon::cli
