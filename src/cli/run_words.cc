// SPDX-License-Identifier: Apache-2.0
#include "cli/run_words.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>

#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

bool is_limit(Ending ending) {
  switch (ending) {
    case Ending::exit:
    case Ending::signal:
    case Ending::infrastructure:
      return false;
    default:
      return true;
  }
}

int code_of_failure(const node::RunOutcome& outcome) {
  if (outcome.failed_step != "exec") return 125;
  return outcome.failed_errno == ENOENT ? 127 : 126;
}

bool is_plain(const std::string& word) {
  return !word.empty() && word.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_./=:,+@%") == std::string::npos;
}

}  // namespace

int exit_code_of(const node::RunOutcome& outcome) {
  if (!outcome.failed_step.empty()) return code_of_failure(outcome);
  const Verdict& verdict = outcome.verdict;
  switch (verdict.ending) {
    case Ending::exit:
      return verdict.status;
    case Ending::signal:
      return 128 + verdict.status;
    case Ending::wall_time:
    case Ending::cpu_time:
      return 124;
    case Ending::infrastructure:
      return 125;
    case Ending::disk:
    case Ending::inodes:
    case Ending::pids:
      // The command has ended by itself, on account of the limit, where it could: its own code.
      return verdict.status > 0 ? verdict.status : 128 + SIGKILL;
    default:
      return 128 + SIGKILL;
  }
}

std::string words_of(const node::RunOutcome& outcome, const std::string& command) {
  if (!outcome.failed_step.empty()) {
    return fmt::format("cordon: {}: {}: {}\n", terminal::printable(command), outcome.failed_step,
                       std::generic_category().message(outcome.failed_errno));
  }
  const Verdict& verdict = outcome.verdict;
  if (is_limit(verdict.ending) || verdict.ending == Ending::infrastructure) {
    return fmt::format("cordon: {}\n", terminal::printable(to_line(verdict)));
  }
  if (!verdict.explanation.empty()) {
    return fmt::format("cordon: {}\n", terminal::printable(verdict.explanation));
  }
  return {};
}

std::string words_of(const Denial& denial) {
  // Allowed, and not reached: that is not the sandbox's doing.
  const bool outside = denial.code == "CORDON-NET-OUTSIDE" || denial.code == "CORDON-NET-LOST";
  std::string text =
      fmt::format("cordon: {} {}{}   {}\n", outside ? "could not" : "refused",
                  terminal::printable(denial.tried),
                  denial.count > 1 ? fmt::format(" ({} times)", denial.count) : "", denial.code);
  if (!denial.why.empty()) {
    text += fmt::format("  why   {}", terminal::printable(denial.why));
    text += outside ? "\n" : fmt::format(" ({})\n", terminal::printable(denial.rule));
  }
  if (!denial.fix.empty()) text += fmt::format("  fix   {}\n", terminal::printable(denial.fix));
  if (!denial.action.empty()) {
    text += fmt::format("  ask   {}\n", terminal::printable(denial.action));
  }
  return text;
}

std::string words_of(const std::vector<Denial>& denials) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(denials.size(), kShown); ++i) text += words_of(denials[i]);
  if (denials.size() > kShown) {
    text += fmt::format("cordon: {} more refusals are in the record\n", denials.size() - kShown);
  }
  return text;
}

std::string words_of_review(const std::string& id, std::chrono::days kept) {
  return fmt::format(
      "cordon: changes wait for review: cordon diff {0}, then cordon apply {0} --all or cordon "
      "discard {0}; kept for {1} days\n",
      id, kept.count());
}

std::string spelled(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    if (is_plain(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) {
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += '\'';
  }
  return text;
}

}  // namespace cordon::cli
