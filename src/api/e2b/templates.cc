// SPDX-License-Identifier: Apache-2.0
// Templates: asked for, built, tagged, told of.
#include "node/templates.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/e2b/face.h"
#include "api/e2b/message.h"
#include "api/e2b/template_build.h"
#include "api/e2b/template_request.h"
#include "api/rest/shown.h"
#include "base/time_text.h"
#include "node/sandbox_ids.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kLargestBody = std::size_t{1} << 20U;
constexpr std::uint64_t kUploadSeconds = 3600;
constexpr std::string_view kSignature = "signature";
constexpr std::string_view kExpires = "signature_expiration";

Error no_template(std::string_view name) {
  return Error{Errc::not_found, fmt::format("there is no template {}", name)};
}

std::string asked_json(const Build& build) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("templateID", build.template_id);
  json.text("buildID", build.id);
  json.boolean("public", false);
  json.texts("names", {build.alias});
  json.texts("aliases", {build.alias});
  json.texts("tags", build.tags);
  json.end_object();
  return json.take();
}

std::string tagged_json(const node::Template& known, const std::vector<std::string>& tags) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("buildID", known.build);
  json.texts("tags", tags);
  json.end_object();
  return json.take();
}

std::string time_text(const node::Template& known) {
  return to_text(WallTime{std::chrono::milliseconds{known.image.made_ms}});
}

std::string tags_json(const std::vector<node::Template>& all) {
  wire::JsonWriter json;
  json.begin_array();
  for (const node::Template& each : all) {
    for (const std::string& tag : each.tags) {
      json.begin_object();
      json.text("tag", tag);
      json.text("buildID", each.build);
      json.text("createdAt", time_text(each));
      json.end_object();
    }
  }
  json.end_array();
  return json.take();
}

std::string templates_json(const std::vector<node::Template>& all) {
  wire::JsonWriter json;
  json.begin_array();
  std::set<std::string> told;
  for (const node::Template& each : all) {
    if (!told.insert(each.alias).second) continue;
    json.begin_object();
    json.text("templateID", each.id());
    json.text("buildID", each.build);
    json.texts("aliases", {each.alias});
    json.texts("names", {each.alias});
    json.boolean("public", false);
    json.number("cpuCount", each.processors);
    json.number("memoryMB", each.memory_megabytes);
    json.text("createdAt", time_text(each));
    json.text("updatedAt", time_text(each));
    json.end_object();
  }
  json.end_array();
  return json.take();
}

// What a signature for sending files is made over, in place of a sandbox's id.
std::string upload_door(std::string_view template_id, std::string_view digest,
                        std::uint64_t expires) {
  return fmt::format("upload:{}:{}:{}", template_id, digest, expires);
}

}  // namespace

Result<std::vector<node::Template>> Face::templates_named(const Call& call,
                                                          std::string_view name) const {
  TRY(auto all,
      node::templates_in(parts_.settings.image_store, node::launcher_name_of(owner_of(call))));
  std::erase_if(all, [&](const node::Template& each) {
    return each.tags.empty() || (each.alias != name && each.id() != name);
  });
  return all;
}

async::Task<void> Face::list_templates(Call& call) {
  CO_TRY(auto all,
         node::templates_in(parts_.settings.image_store, node::launcher_name_of(owner_of(call))));
  std::erase_if(all, [](const node::Template& each) { return each.tags.empty(); });
  co_return co_await answer_json(call, 200, templates_json(all));
}

async::Task<void> Face::find_alias(Call& call) {
  CO_TRY(const TemplateName name, read_template_name(call.places.front()));
  const std::string owner = node::launcher_name_of(owner_of(call));
  CO_TRY(const auto known,
         node::find_template(parts_.settings.image_store, owner, name.alias, name.tag));
  if (!known) co_return no_template(call.places.front());
  wire::JsonWriter json;
  json.begin_object();
  json.text("templateID", known->id());
  json.boolean("public", false);
  json.end_object();
  co_return co_await answer_json(call, 200, json.take());
}

async::Task<void> Face::ask_template(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(NewTemplate wanted, read_new_template(body));
  if (parts_.settings.image_store.empty()) {
    co_return Error{Errc::unavailable,
                    "this node keeps no images: its operator names a place for "
                    "them with `image_store`"};
  }
  auto build = std::make_shared<Build>();
  build->id = parts_.new_request_id();
  build->tenant = owner_of(call);
  build->owner = node::launcher_name_of(build->tenant);
  build->template_id = node::template_id(build->owner, wanted.alias);
  build->alias = std::move(wanted.alias);
  build->tags = std::move(wanted.tags);
  build->processors = wanted.processors;
  build->memory_megabytes = wanted.memory_megabytes;
  CO_TRY_DO(builds_.add(build));
  co_return co_await answer_json(call, 202, asked_json(*build));
}

Result<std::shared_ptr<Build>> Face::build_of(const Call& call) const {
  auto build = builds_.find(owner_of(call), call.places[1]);
  if (!build || build->template_id != call.places[0]) {
    return Error{Errc::not_found,
                 fmt::format("there is no build {} of {}; one that was under way when the node "
                             "was started again is lost: build again",
                             call.places[1], call.places[0])};
  }
  return build;
}

async::Task<void> Face::begin_build(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(BuildOrder order, read_build_order(body));
  CO_TRY(const std::shared_ptr<Build> build, build_of(call));
  if (build->status != BuildStatus::waiting) {
    co_return Error{Errc::exists, "this build has begun already"};
  }
  CO_TRY(const auto known, node::templates_in(parts_.settings.image_store, build->owner));
  if (known.size() >= parts_.settings.templates.most) {
    co_return Error{Errc::exhausted,
                    fmt::format("templates.most: there are {} builds already; remove tags or "
                                "templates that are of no use",
                                known.size())};
  }
  CO_TRY_DO(builds_.may_begin(build->tenant));
  build->status = BuildStatus::building;
  scope_->spawn(run_build(build, std::move(order), call.authority));
  co_return co_await call.exchange.answer(202, stream_fields(call, "application/json"), {});
}

asio::awaitable<void> Face::run_build(std::shared_ptr<Build> build, BuildOrder order,
                                      token::Authority authority) {
  TemplateBuild work{{.residents = parts_.residents,
                      .keeper = parts_.keeper,
                      .files = template_files_,
                      .settings = parts_.settings,
                      .clock = parts_.clock},
                     std::move(build),
                     std::move(order)};
  co_await work.run(std::move(authority));
}

async::Task<void> Face::build_status(Call& call) {
  CO_TRY(const std::shared_ptr<Build> build, build_of(call));
  CO_TRY(const auto offset, number_of(call, "logsOffset"));
  co_return co_await answer_json(call, 200, to_json(*build, offset.value_or(0)));
}

// Where the files of a copy are to be sent: to us, by whoever has this address.
async::Task<void> Face::where_to_send(Call& call) {
  const std::string& id = call.places[0];
  const std::string& digest = call.places[1];
  if (!is_files_digest(digest)) co_return Error{Errc::invalid, "the digest of files is none"};
  if (!builds_.is_asked(owner_of(call), id)) co_return no_template(id);
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const std::uint64_t expires =
      static_cast<std::uint64_t>(now.time_since_epoch().count()) + kUploadSeconds;
  const http::RequestHead& head = call.exchange.head();
  const bool is_encrypted = !parts_.settings.certificate.empty() && !call.exchange.peer().local;
  const std::string scheme = is_encrypted ? "https" : "http";
  wire::JsonWriter json;
  json.begin_object();
  json.boolean("present", template_files_.has(id, digest));
  json.text("url", fmt::format("{}://{}/templates/{}/files/{}?{}={}&{}={}", scheme,
                               to_string(head.host), id, digest, kSignature,
                               tokens_.of(upload_door(id, digest, expires), Door::services),
                               kExpires, expires));
  json.end_object();
  co_return co_await answer_json(call, 201, json.take());
}

async::Task<void> Face::take_files(Call& call) {
  const auto signature = call.query.find(kSignature);
  CO_TRY(const auto expires, number_of(call, kExpires));
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const bool is_late =
      expires.value_or(0) < static_cast<std::uint64_t>(now.time_since_epoch().count());
  const std::string door = upload_door(call.places[0], call.places[1], expires.value_or(0));
  if (signature == call.query.end() || is_late ||
      !tokens_.opens(signature->second, door, Door::services)) {
    co_return co_await answer_error(
        call, wire::ProblemAnswer{.status = 401,
                                  .code = "CORDON-API-UNAUTHENTICATED",
                                  .detail = "the address for files is wrong, or not good any more",
                                  .remedy = "build again"});
  }
  CO_TRY_DO(co_await template_files_.take(call.exchange, call.places[0], call.places[1]));
  co_return co_await answer_json(call, 201, "{}");
}

async::Task<void> Face::add_tags(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const TagRequest wanted, read_tag_request(body, "target"));
  CO_TRY(auto all, templates_named(call, wanted.name.alias));
  const auto has = [](const node::Template& each, const std::string& tag) {
    return std::ranges::find(each.tags, tag) != each.tags.end();
  };
  const auto target = std::ranges::find_if(
      all, [&](const node::Template& each) { return has(each, wanted.name.tag); });
  if (target == all.end()) co_return no_template(wanted.name.alias + ":" + wanted.name.tag);
  for (const std::string& tag : wanted.tags) {
    if (!has(*target, tag)) target->tags.push_back(tag);
  }
  CO_TRY_DO(co_await node::set_tags(parts_.keeper, *target));
  for (node::Template& each : all) {
    if (each.build == target->build) continue;
    const auto taken = std::erase_if(each.tags, [&](const std::string& tag) {
      return std::ranges::find(wanted.tags, tag) != wanted.tags.end();
    });
    if (taken > 0) CO_TRY_DO(co_await node::set_tags(parts_.keeper, each));
  }
  co_return co_await answer_json(call, 201, tagged_json(*target, wanted.tags));
}

async::Task<void> Face::remove_tags(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestBody));
  CO_TRY(const TagRequest wanted, read_tag_request(body, "name"));
  CO_TRY(auto all, templates_named(call, wanted.name.alias));
  std::size_t taken = 0;
  for (node::Template& each : all) {
    const std::size_t before = each.tags.size();
    std::erase_if(each.tags, [&](const std::string& tag) {
      return std::ranges::find(wanted.tags, tag) != wanted.tags.end();
    });
    if (each.tags.size() == before) continue;
    ++taken;
    CO_TRY_DO(co_await node::set_tags(parts_.keeper, each));
  }
  if (taken == 0) co_return no_template(wanted.name.alias + " with any of these tags");
  co_return co_await answer_nothing(call);
}

async::Task<void> Face::list_tags(Call& call) {
  CO_TRY(const auto all, templates_named(call, call.places.front()));
  if (all.empty()) co_return no_template(call.places.front());
  co_return co_await answer_json(call, 200, tags_json(all));
}

// What lives of it lives on.
async::Task<void> Face::remove_template(Call& call) {
  CO_TRY(auto all, templates_named(call, call.places.front()));
  if (all.empty()) co_return no_template(call.places.front());
  for (node::Template& each : all) {
    each.tags.clear();
    CO_TRY_DO(co_await node::set_tags(parts_.keeper, each));
  }
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api::e2b
