// SPDX-License-Identifier: Apache-2.0
// cordon completion: a script with which a shell completes words of this command line.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/completion_tree.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

void print(const std::string& shell, Context& context) {
  // All verbs, though the command line has described only this one to itself.
  CLI::App app{"", "cordon"};
  app.set_version_flag("--version", "");
  add_all_verbs(app, context);
  const CompletionVerb whole = completion_tree(app);
  context.out << (shell == "bash"  ? bash_completion(whole)
                  : shell == "zsh" ? zsh_completion(whole)
                                   : fish_completion(whole));
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const verb =
      app.add_subcommand("completion", "Prints a script for completion in a shell");
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([shell, &context] { print(*shell, context); });
}

}  // namespace cordon::cli
