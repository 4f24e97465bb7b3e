// SPDX-License-Identifier: Apache-2.0
// The tools explain and request_access.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "async/offload.h"
#include "cli/mcp/tools.h"
#include "cli/query_words.h"
#include "cli/run_policy.h"
#include "policy/learn_tables.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

std::string home_of(const Context& context) { return context.environment("HOME").value_or("/"); }

Result<QueryWords> query_of(const std::string& op, const std::string& target,
                            const Context& context, const std::string& workspace) {
  const std::array<std::string, 2> words{op, target};
  return query_from(words,
                    {.home = home_of(context), .directory = workspace, .workspace = workspace});
}

std::string changes_of(const policy::Explanation& explanation) {
  std::vector<std::string> all;
  all.reserve(explanation.changes.size());
  for (const policy::Change& change : explanation.changes) all.push_back(to_string(change));
  return fmt::format("{}", fmt::join(all, "; "));
}

// One more thing that somebody wants, beside what the options say.
struct Wanted {
  std::string op;
  std::string target;  // resolved
  std::string flag;    // as a person types it
};

Result<Wanted> wanted_of(const std::string& op, const std::string& target, const Context& context,
                         const std::string& workspace) {
  if (target.find_first_of(std::string_view{"\0\n\r", 3}) != std::string::npos) {
    return Error{Errc::invalid, "a target is one line"};
  }
  if (op == "port") {
    unsigned port = 0;
    const char* const end = target.data() + target.size();
    const auto [stopped, error] = std::from_chars(target.data(), end, port);
    if (error != std::errc{} || stopped != end || port == 0 || port > 65535) {
      return Error{Errc::invalid, "a port is a number from 1 to 65535"};
    }
    return Wanted{op, target, "--host-port " + target};
  }
  if (op == "net") {
    if (target.empty() || target.starts_with('-') || target.find(' ') != std::string::npos) {
      return Error{Errc::invalid, "a host is HOST or HOST:PORT"};
    }
    return Wanted{op, target, "--allow-net " + target};
  }
  TRY(const QueryWords query, query_of(op, target, context, workspace));
  const std::string path = std::get<PathWords>(query).path;
  return Wanted{op, path, fmt::format("--allow-{} {}", op, path)};
}

// Never asked for: a person decides these at a terminal, not in a dialogue of an agent's.
std::optional<std::string> never_asked(const Wanted& wanted, const std::string& home) {
  if (wanted.op == "net") {
    const std::string host = wanted.target.substr(0, wanted.target.rfind(':'));
    if (const auto way = policy::kind_of_way_out(host)) return fmt::format("it is a {}", *way);
    if (host.find('*') != std::string::npos) return "it names more than one host";
    return std::nullopt;
  }
  if (wanted.op == "port") return std::nullopt;
  std::error_code ignored;
  const std::string real = std::filesystem::weakly_canonical(wanted.target, ignored).string();
  for (const std::string& path : {wanted.target, real}) {
    if (policy::is_secret_path(path)) return "it holds keys or tokens";
    if (policy::may_hold_secrets(path)) return "there are keys or tokens in it";
    if (policy::is_too_wide(path, home)) return "it is too wide";
  }
  return std::nullopt;
}

// Where a sandbox has files of its own: of the host's of the same name nothing is said.
bool is_own_place(const Wanted& wanted) {
  return wanted.op != "net" && wanted.op != "port" &&
         (wanted.target.starts_with("/tmp/") || wanted.target.starts_with("/var/tmp/"));
}

RunOptions widened(RunOptions options, const Wanted& wanted) {
  if (wanted.op == "read") options.allow_read.push_back(wanted.target);
  if (wanted.op == "write") options.allow_write.push_back(wanted.target);
  if (wanted.op == "net") options.allow_net.push_back(wanted.target);
  if (wanted.op == "port") options.host_ports.push_back(wanted.target);
  return options;
}

// `denied`: they do not allow it, and why.
Status allows(const RunOptions& options, const Wanted& wanted, const Context& context,
              const std::string& workspace) {
  if (wanted.op == "port") {
    if (std::ranges::find(options.host_ports, wanted.target) != options.host_ports.end()) return {};
    return Error{Errc::denied, "no flag names this port"};
  }
  policy::Problems problems{"command line"};
  TRY(const policy::Policy policy, policy_of_run(options, workspace, context, problems));
  TRY(const QueryWords query, query_of(wanted.op, wanted.target, context, workspace));
  const policy::Explanation explanation = explain(policy, query);
  if (explanation.effect == policy::Effect::allow) return {};
  return Error{Errc::denied, fmt::format("{}: {}", explanation.rule, explanation.sentence)};
}

// Whether a sandbox with these options could be launched, and would allow it. `denied`: why not.
Status can_be_had(const RunOptions& options, const Wanted& wanted, const SandboxHouse& house,
                  const std::string& workspace) {
  WhyNot why;
  if (const auto run = prepare_run(options, house.context, house.host, why); !run) {
    if (!why.denials.empty()) return Error{Errc::denied, why.denials.front().why};
    if (!why.problems.empty()) return Error{Errc::denied, to_string(why.problems.all().front())};
    return Error{Errc::denied, run.error().text()};
  }
  return allows(options, wanted, house.context, workspace);
}

ToolResult denied(const std::string& why, const std::string& fix) {
  const std::string text =
      fix.empty() ? fmt::format("cordon: denied: {}\n", why)
                  : fmt::format("cordon: denied: {}\n  fix   {}   (a person, outside)\n", why, fix);
  return {.structured = {{"decision", "denied"},
                         {"sandbox", nullptr},
                         {"why", mcp::server::as_utf8(why)},
                         {"fix", text_or_null(mcp::server::as_utf8(fix))}},
          .text = mcp::server::as_utf8(text)};
}

ToolResult granted(const std::string& sandbox, const std::string& why) {
  return {
      .structured = {{"decision", "granted"}, {"sandbox", sandbox}, {"why", why}, {"fix", nullptr}},
      .text = fmt::format("granted: {}; run it with sandbox {}\n", why, sandbox)};
}

}  // namespace

asio::awaitable<ToolAnswer> Tools::explain(Call& call) {
  auto name = at_.sandboxes.resolve(text_in(call.arguments, "sandbox"));
  if (!name) co_return failed("cordon: " + name.error().text());
  const auto query = query_of(text_in(call.arguments, "op"), text_in(call.arguments, "target"),
                              at_.house.context, at_.workspace);
  if (!query) co_return failed("cordon: " + mcp::server::as_utf8(query.error().text()));
  const auto policy =
      co_await async::offload(at_.pool, [options = at_.sandboxes.options_of(*name), this] {
        policy::Problems problems{"command line"};
        return policy_of_run(options, at_.workspace, at_.house.context, problems);
      });
  if (!policy) co_return failed("cordon: " + mcp::server::as_utf8(policy.error().text()));
  const policy::Explanation found = cli::explain(*policy, *query);
  const bool is_allowed = found.effect == policy::Effect::allow;
  const std::string grant = is_allowed ? std::string{} : mcp::server::as_utf8(changes_of(found));
  std::string text =
      fmt::format("{}  {}  {}\n", is_allowed ? "allowed" : "denied", found.rule, found.sentence);
  if (!grant.empty()) text += fmt::format("  a person would {}\n", grant);
  co_return ToolResult{.structured = {{"allowed", is_allowed},
                                      {"rule", mcp::server::as_utf8(found.rule)},
                                      {"why", mcp::server::as_utf8(found.sentence)},
                                      {"grant", text_or_null(grant)}},
                       .text = mcp::server::as_utf8(text)};
}

asio::awaitable<ToolAnswer> Tools::request_access(Call& call) {
  const Context& context = at_.house.context;
  const auto wanted = wanted_of(text_in(call.arguments, "op"), text_in(call.arguments, "target"),
                                context, at_.workspace);
  if (!wanted) co_return failed("cordon: " + mcp::server::as_utf8(wanted.error().text()));
  const auto usual = at_.sandboxes.resolve({});
  if (!usual) co_return failed("cordon: " + usual.error().text());
  const RunOptions now = at_.sandboxes.options_of(*usual);
  const std::string fix = fmt::format("{} {}", typed_flags(now), wanted->flag);
  if (const auto never = never_asked(*wanted, home_of(context))) {
    co_return denied(fmt::format("{}: this is not asked for in a dialogue", *never), fix);
  }
  const auto already = co_await async::offload(at_.pool, [&now, &wanted, this] {
    return allows(now, *wanted, at_.house.context, at_.workspace);
  });
  const auto& listed = wanted->op == "read" ? now.allow_read : now.allow_write;
  const bool is_listed = std::ranges::find(listed, wanted->target) != listed.end();
  if (already && (is_listed || !is_own_place(*wanted))) {
    co_return granted(*usual, "it is allowed already");
  }
  const RunOptions wider = widened(now, *wanted);
  const auto can = co_await async::offload(at_.pool, [&wider, &wanted, this] {
    return can_be_had(wider, *wanted, at_.house, at_.workspace);
  });
  if (!can) co_return denied(can.error().text(), {});
  const bool once = text_in(call.arguments, "scope") != "session";
  Question question{
      .message = fmt::format(
          "An agent asks for access: {} {}\nIts reason: {}\nFor {}; it would be in a new sandbox.",
          wanted->op, review::printable(wanted->target),
          review::printable(text_in(call.arguments, "reason"), review::Spelling::line),
          once ? "one command" : "all commands until the server ends"),
      .choices = once ? std::vector<std::string>{"once", "deny"}
                      : std::vector<std::string>{"session", "once", "deny"},
      .about = wanted->flag};
  Asked asked = co_await ask(call, consents_, std::move(question));
  if (auto* const required = std::get_if<InputRequired>(&asked)) co_return std::move(*required);
  if (auto* const problem = std::get_if<mcp::server::Problem>(&asked))
    co_return std::move(*problem);
  if (const auto* const declined = std::get_if<Declined>(&asked)) {
    co_return denied(declined->why, fix);
  }
  const auto* const chosen = std::get_if<Chosen>(&asked);
  if (chosen == nullptr) co_return denied("this client has no way to ask a person", fix);
  if (call.is_cancelled) co_return failed("cordon: cancelled");
  const bool for_one = chosen->choice == "once";
  co_return granted(at_.sandboxes.add(wider, for_one),
                    fmt::format("{} {}, for {}", wanted->op, review::printable(wanted->target),
                                for_one ? "one command" : "this session"));
}

}  // namespace cordon::cli
