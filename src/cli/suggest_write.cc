// SPDX-License-Identifier: Apache-2.0
// Puts a changed policy where a person wants it, after showing it.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "cli/replaced_file.h"
#include "cli/suggest.h"
#include "os/standard_streams.h"
#include "review/line_diff.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// What the file holds was read and shown, so it is the one that is meant, also through a link.
// Where there is none yet no link is followed: a sandbox may have put it there.
Status replace_policy(const std::string& file, const std::string& text) {
  constexpr unsigned kNew = 0644;
  std::error_code error;
  const auto status = fs::status(file, error);
  const std::string place = fs::exists(status) ? fs::canonical(file, error).string() : file;
  if (error && fs::exists(status)) return Error{Errc::unavailable, file + ": " + error.message()};
  auto replaced = ReplacedFile::open(place);
  if (!replaced) return std::move(replaced).error().with(file);
  const unsigned mode = fs::exists(status) ? static_cast<unsigned>(status.permissions()) : kNew;
  Status done = replaced->write(text, mode);
  if (!done) return std::move(done).error().with(file);
  return {};
}

bool is_answered_yes(std::ostream& out, const std::string& file) {
  out << fmt::format("write {}? [y/N] ", terminal::printable(file)) << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

}  // namespace

void write_policy(const SuggestOptions& options, const ChangedPolicy& policy,
                  const std::string& text, Context& context) {
  const bool is_silent = options.log.json;
  if (!is_silent) {
    const std::string name = terminal::printable(policy.file);
    context.out << fmt::format("--- {}\n+++ {}\n", policy.before.empty() ? "/dev/null" : name, name)
                << review::unified_hunks(review::diff_lines(policy.before, text));
  }
  if (!options.yes) {
    if (is_silent || !os::is_standard_terminal(0) || !os::is_standard_terminal(1)) {
      context.err << "cordon: nobody is there to be asked: --yes writes it\n";
      context.exit = Exit::ask;
      return;
    }
    if (!is_answered_yes(context.out, policy.file)) {
      context.out << "nothing is written\n";
      context.exit = Exit::no;
      return;
    }
  }
  if (const Status done = replace_policy(policy.file, text); !done) {
    return fail(context, done.error());
  }
  if (is_silent) return;
  const std::string name = terminal::printable(policy.file);
  context.out << fmt::format("written: cordon run --policy {} -- …\n", name);
}

}  // namespace cordon::cli
