// SPDX-License-Identifier: Apache-2.0
// cordon ps: the sandboxes that live in a node.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/node_client.h"
#include "cli/node_label.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct PsFlags {
  NodeOptions node;
  std::vector<std::string> labels;
  bool quiet = false;
};

Result<std::string> query_of(const PsFlags& flags) {
  std::string query = "/v1/sandboxes?limit=1000";
  for (const std::string& word : flags.labels) {
    TRY(const Label label, read_label(word));
    query += "&label." + escaped_for_query(label.name) + '=' + escaped_for_query(label.value);
  }
  return query;
}

void print(const PsFlags& flags, const json::array& sandboxes, Context& context) {
  if (flags.node.json) {
    context.out << json::serialize(json::object{{"sandboxes", sandboxes}}) << '\n';
  } else if (flags.quiet) {
    for (const json::value& each : sandboxes)
      context.out << terminal::printable(text_at(each, "id")) << '\n';
  } else {
    context.out << sandboxes_text(sandboxes, wall_seconds());
  }
}

void ps(const PsFlags& flags, Context& context) {
  const auto query = query_of(flags);
  if (!query) return fail_typed(context, query.error());
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  json::array all;
  // Page by page, to the last.
  for (std::string after;;) {
    const auto page = ask_now(
        *node, {.path = *query + (after.empty() ? "" : "&after=" + escaped_for_query(after))});
    if (!page) return fail(context, page.error());
    if (!page->is_good()) return refuse(context, flags.node, *page);
    const json::array& some = list_at(page->json, "sandboxes");
    all.insert(all.end(), some.begin(), some.end());
    after = text_at(page->json, "next");
    if (after.empty() || some.empty()) break;
  }
  print(flags, all, context);
}

}  // namespace

void add_ps(CLI::App& app, Context& context) {
  auto flags = std::make_shared<PsFlags>();
  CLI::App* const verb = app.add_subcommand("ps", "Lists the sandboxes of a node");
  verb->group(kNodeVerbs);
  add_label_flag(*verb, flags->labels, "Only those with this label; may be repeated");
  verb->add_flag("-q,--quiet", flags->quiet, "Print ids only");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { ps(*flags, context); });
}

}  // namespace cordon::cli
