// SPDX-License-Identifier: Apache-2.0
#include "wire/answers.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "wire/json_writer.h"
#include "wire/record_json.h"

namespace cordon::wire {
namespace {

void write(JsonWriter& json, const Enforcement& enforcement) {
  json.begin_array();
  for (const Mechanism& mechanism : enforcement.mechanisms) {
    json.begin_object();
    json.text("name", mechanism.name);
    json.text("hold", to_string(mechanism.hold));
    if (!mechanism.detail.empty()) json.text("detail", mechanism.detail);
    json.end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const SandboxAnswer& sandbox) {
  json.begin_object();
  json.text("id", sandbox.id);
  json.text("tenant", sandbox.tenant);
  json.text("state", sandbox.is_living ? "running" : "ended");
  json.text("created", to_text(sandbox.created));
  json.text("expires", to_text(sandbox.expires));
  json.key("labels");
  json.begin_object();
  for (const auto& [name, value] : sandbox.labels) json.text(name, value);
  json.end_object();
  json.text("isolation", sandbox.isolation);
  json.key("enforcement");
  write(json, sandbox.enforcement);
  if (sandbox.verdict) {
    json.key("verdict");
    write(json, *sandbox.verdict);
  }
  json.end_object();
}

void write(JsonWriter& json, const ExitAnswer& exit) {
  json.begin_object();
  json.number(exit.by_signal ? "signal" : "code", std::uint64_t{exit.value});
  json.number("cpu_microseconds", exit.cpu_microseconds);
  json.number("most_memory", exit.most_memory);
  json.end_object();
}

void write(JsonWriter& json, const ProcessAnswer& process) {
  json.begin_object();
  json.number("process", std::uint64_t{process.number});
  json.text("command", process.command);
  json.text("state", !process.failure.empty() ? "failed" : process.exit ? "exited" : "running");
  if (process.pid != 0) json.number("pid", std::uint64_t{process.pid});
  if (process.has_terminal) json.boolean("pty", true);
  if (!process.failure.empty()) json.text("failure", process.failure);
  if (process.exit) {
    json.key("exit");
    write(json, *process.exit);
  }
  json.number("stdout_bytes", process.out);
  json.number("stderr_bytes", process.err);
  json.number("stdout_from", process.out_from);
  json.number("stderr_from", process.err_from);
  json.end_object();
}

void write(JsonWriter& json, const FileAnswer& file) {
  json.begin_object();
  json.bytes("name", file.name);
  json.text("type", file.type);
  json.number("size", file.size);
  json.text("mode", fmt::format("{:04o}", file.mode & 07777U));
  json.number("modified_nanoseconds", file.modified);
  if (!file.target.empty()) json.bytes("target", file.target);
  json.end_object();
}

template <class T>
std::string whole(const T& value) {
  JsonWriter json;
  write(json, value);
  return json.take();
}

}  // namespace

std::string to_json(const SandboxAnswer& sandbox) { return whole(sandbox); }
std::string to_json(const ProcessAnswer& process) { return whole(process); }
std::string to_json(const FileAnswer& file) { return whole(file); }

std::string to_json(const ExecAnswer& exec) {
  JsonWriter json;
  json.begin_object();
  json.key("process");
  write(json, exec.process);
  json.bytes("stdout", exec.out);
  json.bytes("stderr", exec.err);
  if (exec.is_late) json.boolean("timed_out", true);
  if (exec.is_cut) json.boolean("truncated", true);
  json.end_object();
  return json.take();
}

std::string to_json(const ListAnswer& list) {
  JsonWriter json;
  json.begin_object();
  json.key("sandboxes");
  json.begin_array();
  for (const SandboxAnswer& sandbox : list.sandboxes) write(json, sandbox);
  json.end_array();
  if (!list.next.empty()) json.text("next", list.next);
  json.end_object();
  return json.take();
}

std::string to_json(const std::vector<ProcessAnswer>& processes) {
  JsonWriter json;
  json.begin_object();
  json.key("processes");
  json.begin_array();
  for (const ProcessAnswer& process : processes) write(json, process);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string to_json(const std::vector<FileAnswer>& files, bool more) {
  JsonWriter json;
  json.begin_object();
  json.key("entries");
  json.begin_array();
  for (const FileAnswer& file : files) write(json, file);
  json.end_array();
  json.boolean("more", more);
  json.end_object();
  return json.take();
}

std::string to_json(const RunAnswer& run) {
  JsonWriter json;
  json.begin_object();
  json.text("id", run.id);
  json.key("verdict");
  write(json, run.verdict);
  if (!run.failure.empty()) json.text("failure", run.failure);
  json.bytes("stdout", run.out);
  json.bytes("stderr", run.err);
  json.key("usage");
  json.begin_object();
  json.number("wall_milliseconds", run.use.wall_milliseconds);
  if (run.use.cpu_microseconds) json.number("cpu_microseconds", *run.use.cpu_microseconds);
  if (run.use.memory_peak) json.number("memory_peak", *run.use.memory_peak);
  if (run.use.pids_peak) json.number("pids_peak", *run.use.pids_peak);
  json.end_object();
  json.key("enforcement");
  write(json, run.enforcement);
  json.key("denials");
  json.begin_array();
  for (const Denial& denial : run.denials) write(json, denial);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string output_line(bool is_error, std::uint64_t offset, std::string_view bytes) {
  JsonWriter json;
  json.begin_object();
  json.text("event", is_error ? "stderr" : "stdout");
  json.number("offset", offset);
  json.bytes("data", bytes);
  json.end_object();
  return json.take() + "\n";
}

std::string output_end_line(bool is_error, std::uint64_t offset) {
  JsonWriter json;
  json.begin_object();
  json.text("event", is_error ? "stderr_end" : "stdout_end");
  json.number("offset", offset);
  json.end_object();
  return json.take() + "\n";
}

std::string exit_line(const ProcessAnswer& process) {
  JsonWriter json;
  json.begin_object();
  json.text("event", process.failure.empty() ? "exit" : "failed");
  json.key("process");
  write(json, process);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace cordon::wire
