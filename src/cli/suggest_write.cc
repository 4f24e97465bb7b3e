// SPDX-License-Identifier: Apache-2.0
// Puts a changed policy where a person wants it, after showing it.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "cli/suggest.h"
#include "os/standard_streams.h"
#include "review/line_diff.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// In one step: whoever reads it meanwhile reads the old one or the new one.
Status replace_file(const std::string& file, const std::string& text) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  const fs::path part = whole.string() + ".cordon-part";
  const auto failed = [&](std::string_view what) {
    std::error_code ignored;
    fs::remove(part, ignored);
    return Error{Errc::unavailable, fmt::format("{}: {}", file, what)};
  };
  std::ofstream out{part, std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  if (!out) return failed("cannot be written");
  if (const auto status = fs::status(whole, error); fs::exists(status)) {
    fs::permissions(part, status.permissions(), error);
    if (error) return failed(error.message());
  }
  fs::rename(part, whole, error);
  if (error) return failed(error.message());
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
  if (const Status done = replace_file(policy.file, text); !done) {
    return fail(context, done.error());
  }
  if (is_silent) return;
  const std::string name = terminal::printable(policy.file);
  context.out << fmt::format("written: cordon run --policy {} -- …\n", name);
}

}  // namespace cordon::cli
