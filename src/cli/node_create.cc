// SPDX-License-Identifier: Apache-2.0
// cordon create: a sandbox that lives in a node until it is ended or its time is over.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/bytes.h"
#include "cli/node_client.h"
#include "cli/node_label.h"
#include "cli/node_words.h"
#include "cli/policy_json.h"
#include "cli/run_options.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "os/random.h"
#include "policy/parse.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct CreateFlags {
  NodeOptions node;
  std::string policy;
  std::vector<std::string> labels;
  std::string timeout;
};

Result<json::value> read_policy(const std::string& file, policy::Problems& problems) {
  TRY(const std::string text, read_text_file(file));
  // Here, so that a message has the place in the file; what it may say is the node's to judge.
  TRY_DO(policy::parse(text, file, policy::syntax_of(file, text), &problems));
  return policy_json(file, text, problems);
}

// `invalid`: what was typed.
Result<json::object> typed(const CreateFlags& flags) {
  json::object request;
  json::object labels;
  for (const std::string& word : flags.labels) {
    TRY(const Label label, read_label(word));
    labels[label.name] = label.value;
  }
  if (!labels.empty()) request["labels"] = std::move(labels);
  if (!flags.timeout.empty()) {
    TRY(const std::uint64_t seconds, parse_duration(flags.timeout));
    request["timeout_seconds"] = seconds;
  }
  return request;
}

// A node that dies while it makes one is asked again: by the key it knows that it was the same.
Result<NodeAnswer> create(const Node& node, const std::string& body) {
  constexpr int kTries = 3;
  TRY(const auto key, os::random_bytes<16>());
  const NodeRequest request{.method = "POST",
                            .path = "/v1/sandboxes",
                            .body = body,
                            .fields = {{"Idempotency-Key", to_hex(key)}}};
  for (int tried = 1;; ++tried) {
    auto answer = ask_now(node, request);
    if (answer || answer.error().code() != Errc::unavailable || tried == kTries) return answer;
  }
}

void run_create(const CreateFlags& flags, Context& context) {
  auto request = typed(flags);
  if (!request) return fail_typed(context, request.error());
  if (!flags.policy.empty()) {
    policy::Problems problems{flags.policy};
    auto document = read_policy(flags.policy, problems);
    if (!document) {
      for (const policy::Problem& problem : problems.all())
        context.err << "cordon: " << to_string(problem) << '\n';
      if (problems.empty()) return fail(context, document.error());
      context.exit = exit_of(document.error().code());
      return;
    }
    (*request)["policy"] = *std::move(document);
  }
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  const auto answer = create(*node, json::serialize(*request));
  if (!answer) return fail(context, answer.error());
  if (!answer->is_good()) return refuse(context, flags.node, *answer);
  context.out << (flags.node.json ? answer->body : terminal::printable(text_at(answer->json, "id")))
              << '\n';
}

}  // namespace

void add_create(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CreateFlags>();
  CLI::App* const verb = app.add_subcommand("create", "Makes a sandbox in a node; prints its id");
  verb->group(kNodeVerbs);
  verb->add_option("--policy", flags->policy, "A policy file (TOML or JSON)")->type_name("FILE");
  add_label_flag(*verb, flags->labels, "A label of it; may be repeated");
  verb->add_option("--timeout", flags->timeout, "How long it lives, like 90s, 10m or 2h (5m)")
      ->type_name("TIME");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { run_create(*flags, context); });
}

}  // namespace cordon::cli
