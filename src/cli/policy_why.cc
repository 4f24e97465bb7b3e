// SPDX-License-Identifier: Apache-2.0
// cordon policy why and test: one decision explained, or many held against what somebody expects.
#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/policy_verbs.h"
#include "cli/query_words.h"
#include "cli/text_file.h"
#include "policy/value.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;
using policy::Effect;

// A request's workspace is never a directory of this machine.
Surroundings surroundings(const PolicyOptions& options, const std::string& workspace,
                          const Context& context) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  Surroundings around{
      .home = context.environment("HOME").value_or("/"), .directory = here, .workspace = workspace};
  if (workspace.empty()) around.workspace = options.origin == "request" ? "/workspace" : here;
  return around;
}

std::string_view verdict(Effect effect) {
  switch (effect) {
    case Effect::allow:
      return "ALLOWED";
    case Effect::ask:
      return "ASK";
    case Effect::deny:
      return "DENIED";
  }
  return "DENIED";
}

Exit exit_of(Effect effect) {
  switch (effect) {
    case Effect::allow:
      return Exit::ok;
    case Effect::ask:
      return Exit::ask;
    case Effect::deny:
      return Exit::no;
  }
  return Exit::no;
}

json::object to_json(const policy::Explanation& explanation) {
  json::array changes;
  for (const policy::Change& change : explanation.changes) {
    changes.push_back(json::object{{"edit", to_string(change.edit)},
                                   {"file", change.file},
                                   {"key", change.key},
                                   {"value", change.value},
                                   {"at", change.at},
                                   {"text", to_string(change)}});
  }
  return {{"effect", to_string(explanation.effect)},
          {"rule", explanation.rule},
          {"why", explanation.sentence},
          {"changes", std::move(changes)}};
}

struct Expectation {
  Effect effect;
  std::string line;
  policy::Mark mark;
};

// `allow`, `ask` and `deny`, each a list of questions as `why` takes them.
Result<std::vector<Expectation>> read_expectations(const std::string& file,
                                                   policy::Problems& problems) {
  TRY(const std::string text, read_text_file(file));
  TRY(const policy::Value tree, policy::read_toml(text, problems));
  std::vector<Expectation> all;
  for (const policy::Entry& entry : *tree.table()) {
    std::optional<Effect> effect;
    for (const Effect known : {Effect::allow, Effect::ask, Effect::deny}) {
      if (entry.key == to_string(known)) effect = known;
    }
    if (!effect || entry.value.list() == nullptr) {
      problems.add(entry.mark, "a policy test has only the lists `allow`, `ask` and `deny`");
      continue;
    }
    for (const policy::Value& item : *entry.value.list()) {
      if (item.text() == nullptr) {
        problems.add(item.mark, "a question is a text, such as \"read /etc/shadow\"");
      } else {
        all.push_back({*effect, *item.text(), item.mark});
      }
    }
  }
  if (!problems.empty()) return problems.to_error();
  if (all.empty())
    return Error{Errc::invalid,
                 file + ": no question in it: a test that asks nothing shows nothing"};
  return all;
}

std::string test_file_of(const std::string& file) {
  const std::filesystem::path path{file};
  return (path.parent_path() / (path.stem().string() + ".test.toml")).string();
}

}  // namespace

void policy_why(const PolicyOptions& options, const std::vector<std::string>& words,
                const std::string& workspace, Context& context) {
  policy::Problems problems{options.file};
  const auto policy = load_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  const auto query = query_from(words, surroundings(options, workspace, context));
  if (!query) {
    report(query.error(), problems, options, context);
    context.exit = Exit::usage;
    return;
  }
  const policy::Explanation explanation = explain(*policy, *query);
  context.exit = exit_of(explanation.effect);
  if (options.json) {
    context.out << to_json(explanation) << '\n';
    return;
  }
  context.out << fmt::format("{:<8} {}  {}\n", verdict(explanation.effect), explanation.rule,
                             explanation.sentence);
  for (const policy::Change& change : explanation.changes) {
    context.out << fmt::format(
        "{:<8} {}\n", explanation.effect == Effect::allow ? "refuse" : "allow", to_string(change));
  }
}

void policy_test(const PolicyOptions& options, Context& context) {
  if (options.file == "-") {
    fail(context, {Errc::invalid, "tests stand beside a policy: name a file, not standard input"});
    context.exit = Exit::usage;
    return;
  }
  policy::Problems problems{options.file};
  const auto policy = load_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  const std::string file = test_file_of(options.file);
  policy::Problems in_tests{file};
  const auto expectations = read_expectations(file, in_tests);
  if (!expectations) return report(expectations.error(), in_tests, options, context);

  // Tests must not depend on where they are run: the workspace is /workspace unless the policy says
  // otherwise.
  const Surroundings around{
      .home = "/home/user", .directory = "/workspace", .workspace = "/workspace"};
  int failed = 0;
  json::array cases;
  for (const Expectation& expected : *expectations) {
    const std::string at = fmt::format("{}:{}", file, expected.mark.line);
    const auto query = query_from_line(expected.line, around);
    policy::Explanation got;
    got.sentence = query ? "" : query.error().text();
    if (query) got = explain(*policy, *query);
    const bool passed = query && got.effect == expected.effect;
    failed += passed ? 0 : 1;
    cases.push_back(json::object{{"at", at},
                                 {"question", expected.line},
                                 {"expected", to_string(expected.effect)},
                                 {"got", to_string(got.effect)},
                                 {"rule", got.rule},
                                 {"why", got.sentence},
                                 {"passed", passed}});
    if (!passed && !options.json) {
      context.out << fmt::format("FAILED {}  {}: expected {}, got {}: {}  {}\n", at, expected.line,
                                 to_string(expected.effect), to_string(got.effect), got.rule,
                                 got.sentence);
    }
  }
  context.exit = failed == 0 ? Exit::ok : Exit::no;
  const auto passed = expectations->size() - static_cast<std::size_t>(failed);
  if (options.json) {
    context.out << json::object{{"passed", passed}, {"failed", failed}, {"cases", std::move(cases)}}
                << '\n';
  } else {
    context.out << fmt::format("{}: {} passed, {} failed\n", file, passed, failed);
  }
}

}  // namespace cordon::cli
