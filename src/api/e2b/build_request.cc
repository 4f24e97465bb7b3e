// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/build_request.h"

#include "wire/json_writer.h"

namespace cordon::api::e2b {
namespace {

void write_network(wire::JsonWriter& json, const std::vector<std::string>& reach) {
  json.key("network");
  json.begin_object();
  json.text("mode", reach.empty() ? "none" : "restricted");
  if (!reach.empty()) json.texts("egress_allowlist", reach);
  json.end_object();
}

}  // namespace

std::string build_request(const BuildGround& ground, std::string_view build) {
  wire::JsonWriter json;
  json.begin_object();
  json.number("timeout_seconds", kLongestBuild);
  json.key("labels");
  json.begin_object();
  json.text(kBuildLabel, build);
  json.end_object();
  json.key("policy");
  json.begin_object();
  json.texts("extends", {"build"});
  json.key("filesystem");
  json.begin_object();
  json.text("root", "image:" + ground.image);
  json.end_object();
  json.key("process");
  json.begin_object();
  json.text("user", "either");
  json.texts("capabilities", {"chown", "dac_override", "fowner", "setgid", "setuid"});
  json.end_object();
  json.key("syscalls");
  json.begin_object();
  json.text("profile", "compat");
  json.end_object();
  json.key("resources");
  json.begin_object();
  json.number("memory_limit", ground.memory);
  json.number("disk_limit", ground.disk);
  json.end_object();
  write_network(json, ground.reach);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace cordon::api::e2b
