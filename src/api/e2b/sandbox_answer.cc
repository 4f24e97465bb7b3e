// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/sandbox_answer.h"

#include <chrono>

#include <fmt/format.h>

#include "base/time_text.h"

namespace cordon::api::e2b {
namespace {

void text_or_nothing(wire::JsonWriter& json, std::string_view name, const std::string& value) {
  value.empty() ? json.nothing(name) : json.text(name, value);
}

void write_fields(wire::JsonWriter& json, const ListedSandbox& sandbox) {
  json.text("sandboxID", sandbox.id);
  json.text("templateID", sandbox.template_id);
  json.text("alias", sandbox.template_id);
  json.text("clientID", "cordon");
  json.text("startedAt", to_text(sandbox.started));
  json.text("endAt", to_text(sandbox.ends));
  json.text("state", sandbox.is_paused ? "paused" : "running");
  json.key("metadata");
  json.begin_object();
  for (const auto& [name, value] : sandbox.metadata) json.text(name, value);
  json.end_object();
  json.number("cpuCount", sandbox.processors);
  json.number("memoryMB", sandbox.memory_megabytes);
  json.number("diskSizeMB", sandbox.disk_megabytes);
  json.text("envdVersion", kEnvdVersion);
  json.key("volumeMounts");
  json.begin_array();
  json.end_array();
}

}  // namespace

std::string error_json(int code, std::string_view message) {
  wire::JsonWriter json;
  json.begin_object();
  json.number("code", static_cast<std::int64_t>(code));
  json.text("message", message);
  json.end_object();
  return json.take();
}

std::string to_json(const MadeSandbox& sandbox) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("sandboxID", sandbox.id);
  json.text("templateID", sandbox.template_id);
  json.text("clientID", "cordon");
  json.text("envdVersion", kEnvdVersion);
  json.text("envdAccessToken", sandbox.access_token);
  text_or_nothing(json, "trafficAccessToken", sandbox.traffic_token);
  text_or_nothing(json, "domain", sandbox.domain);
  json.text("alias", sandbox.template_id);
  json.end_object();
  return json.take();
}

std::string to_json(const ListedSandbox& sandbox) {
  wire::JsonWriter json;
  json.begin_object();
  write_fields(json, sandbox);
  json.end_object();
  return json.take();
}

std::string to_json(const std::vector<ListedSandbox>& sandboxes) {
  wire::JsonWriter json;
  json.begin_array();
  for (const ListedSandbox& each : sandboxes) {
    json.begin_object();
    write_fields(json, each);
    json.end_object();
  }
  json.end_array();
  return json.take();
}

std::string to_json(const SandboxDetail& detail) {
  wire::JsonWriter json;
  json.begin_object();
  write_fields(json, detail.listed);
  json.text("envdAccessToken", detail.access_token);
  text_or_nothing(json, "domain", detail.domain);
  json.boolean("allowInternetAccess", detail.reaches_all);
  json.key("lifecycle");
  json.begin_object();
  json.text("onTimeout", "kill");
  json.boolean("autoResume", false);
  json.end_object();
  json.end_object();
  return json.take();
}

std::string to_json(const SandboxMetrics& metrics) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(metrics.time).time_since_epoch();
  return fmt::format(
      R"([{{"timestamp":"{}","timestampUnix":{},"cpuCount":{},"cpuUsedPct":{:.2f},"memUsed":{},)"
      R"("memTotal":{},"memCache":0,"diskUsed":{},"diskTotal":{}}}])",
      to_text(metrics.time), seconds.count(), metrics.processors, metrics.processor_percent,
      metrics.memory, metrics.memory_total, metrics.disk, metrics.disk_total);
}

}  // namespace cordon::api::e2b
