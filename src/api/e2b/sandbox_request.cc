// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/sandbox_request.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/e2b/message.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {
namespace {

constexpr std::array<std::string_view, 3> kUsual{"", "base", kInterpreterTemplate};
constexpr std::string_view kEverywhere = "0.0.0.0/0";

// What would be left out unseen is refused: whoever asked for it relies on it.
Status refuse_unsupported(const Message& message, const Message* network) {
  for (const std::string_view name : {"mcp", "iam", "volumeMounts"}) {
    if (message.has(name)) {
      return Error{Errc::invalid, fmt::format("`{}` is not supported by this node", name)};
    }
  }
  TRY(const auto pauses, message.boolean("autoPause"));
  if (pauses.value_or(false)) {
    return Error{Errc::invalid,
                 "`autoPause` is not supported by this node: at its timeout a sandbox ends"};
  }
  if (network == nullptr) return {};
  for (const std::string_view name : {"rules", "egressProxy", "maskRequestHost", "httpsPorts"}) {
    if (network->has(name)) {
      return Error{Errc::invalid, fmt::format("`network.{}` is not supported by this node; "
                                              "API v1 has policies for that",
                                              name)};
    }
  }
  return {};
}

struct Reach {
  bool everywhere = false;
  std::vector<std::string> allowed;
  std::vector<std::string> denied;
  bool is_private = false;  // who comes in shows a token
};

// `usual`: what is reached where the message does not say whether everything is.
Result<Reach> reach_of(const Message& message, const Message* network, bool usual) {
  Reach reach;
  TRY(const auto internet, message.boolean("allowInternetAccess"));
  reach.everywhere = internet.value_or(usual);
  if (network == nullptr) return reach;
  TRY(reach.allowed, network->texts("allowOut"));
  TRY(reach.denied, network->texts("denyOut"));
  TRY(const auto is_public, network->boolean("allowPublicTraffic"));
  reach.is_private = !is_public.value_or(true);
  if (std::erase(reach.denied, kEverywhere) > 0) reach.everywhere = false;
  return reach;
}

void write_reach(wire::JsonWriter& json, const Reach& reach) {
  if (!reach.everywhere && reach.allowed.empty()) return;
  json.text("mode", reach.everywhere ? "public" : "restricted");
  if (!reach.everywhere) {
    std::vector<std::string> rules;
    for (const std::string& host : reach.allowed) {
      rules.push_back(host + ":443");
      rules.push_back(host + ":80");
    }
    json.texts("egress_allowlist", rules);
  }
  if (!reach.denied.empty()) json.texts("egress_denylist", reach.denied);
}

// Servers inside are reached by whoever knows the sandbox's name, as the clients expect; what goes
// out is another matter.
void write_network(wire::JsonWriter& json, const Reach& reach) {
  json.key("network");
  json.begin_object();
  json.text("ingress", "every_port");
  write_reach(json, reach);
  json.end_object();
}
void write_texts(wire::JsonWriter& json, std::string_view name,
                 const std::map<std::string, std::string>& texts) {
  json.key(name);
  json.begin_object();
  for (const auto& [key, value] : texts) json.text(key, value);
  json.end_object();
}

void write_root(wire::JsonWriter& json, const std::string& template_id, const TemplateRoot* root) {
  if (root == nullptr && is_usual_template(template_id)) return;
  json.key("filesystem");
  json.begin_object();
  json.text("root", "image:" + (root != nullptr ? root->image : template_id));
  json.end_object();
  if (root == nullptr || (root->processors == 0 && root->memory_megabytes == 0)) return;
  json.key("resources");
  json.begin_object();
  if (root->processors > 0) json.text("cpu_limit", std::to_string(root->processors));
  if (root->memory_megabytes > 0)
    json.text("memory_limit", fmt::format("{}Mi", root->memory_megabytes));
  json.end_object();
}

}  // namespace

std::string template_of(const std::map<std::string, std::string>& labels) {
  const auto found = labels.find(std::string{kTemplateLabel});
  return found == labels.end() ? "base" : found->second;
}

bool is_usual_template(std::string_view name) noexcept {
  return std::ranges::find(kUsual, name) != kUsual.end();
}

Result<std::string> template_in(std::string_view body) {
  TRY(const Message message, Message::read(body));
  TRY(const auto named, message.text("templateID"));
  return named.value_or("base");
}

Result<std::string> as_create_request(std::string_view body, const TemplateRoot* root) {
  TRY(const Message message, Message::read(body));
  TRY(const auto network, message.object("network"));
  TRY_DO(refuse_unsupported(message, network ? &*network : nullptr));
  TRY(const auto named, message.text("templateID"));
  const std::string template_id = named.value_or("base");
  TRY(const auto timeout, message.number("timeout"));
  if (timeout && (*timeout < 1 || *timeout > wire::kLongestLife)) {
    return Error{Errc::invalid,
                 fmt::format("`timeout` is from 1 to {} seconds", wire::kLongestLife)};
  }
  TRY(auto labels, message.texts_by_name("metadata"));
  for (const auto& [name, value] : labels) {
    if (name.starts_with(kOwnLabels)) {
      return Error{Errc::invalid, fmt::format("`metadata`: names that begin with `{}` are the "
                                              "node's own",
                                              kOwnLabels)};
    }
  }
  TRY(const auto variables, message.texts_by_name("envVars"));
  TRY(const Reach reach, reach_of(message, network ? &*network : nullptr, false));
  labels.emplace(kTemplateLabel, template_id);
  if (root != nullptr) {
    labels.emplace(kUserLabel, root->user);
    labels.emplace(kDirectoryLabel, root->directory);
  }
  if (reach.is_private) labels.emplace(kPrivateLabel, "true");
  wire::JsonWriter json;
  json.begin_object();
  json.number("timeout_seconds", static_cast<std::uint64_t>(timeout.value_or(kUsualLife)));
  write_texts(json, "labels", labels);
  json.key("policy");
  json.begin_object();
  write_root(json, template_id, root);
  if (!variables.empty()) {
    json.key("environment");
    json.begin_object();
    write_texts(json, "set", variables);
    json.end_object();
  }
  // Clients say with each process whose it is.
  json.key("process");
  json.begin_object();
  json.text("user", "either");
  json.end_object();
  write_network(json, reach);
  json.end_object();
  json.end_object();
  return json.take();
}

Result<std::string> as_network_change(std::string_view body) {
  TRY(const Message message, Message::read(body));
  for (const std::string_view name : {"rules", "egressProxy"}) {
    if (message.has(name)) {
      return Error{Errc::invalid, fmt::format("`{}` is not supported by this node", name)};
    }
  }
  TRY(const auto allowed, message.texts("allowOut"));
  TRY(const Reach reach, reach_of(message, &message, allowed.empty()));
  wire::JsonWriter json;
  json.begin_object();
  json.key("policy");
  json.begin_object();
  json.key("network");
  json.begin_object();
  if (!reach.everywhere && reach.allowed.empty()) json.text("mode", "none");
  write_reach(json, reach);
  json.end_object();
  json.end_object();
  json.end_object();
  return json.take();
}

Result<wire::ChangeRequest> read_network_change(std::string_view body, policy::Problems& problems) {
  TRY(const std::string plain, as_network_change(body));
  return wire::read_change_request(plain, problems);
}

Result<wire::CreateRequest> read_sandbox_request(std::string_view body, policy::Problems& problems,
                                                 const TemplateRoot* root) {
  TRY(const std::string plain, as_create_request(body, root));
  return wire::read_create_request(plain, problems);
}

}  // namespace cordon::api::e2b
