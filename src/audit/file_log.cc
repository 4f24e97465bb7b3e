// SPDX-License-Identifier: Apache-2.0
#include "audit/file_log.h"

#include <fcntl.h>

#include "base/log.h"
#include "os/file.h"

namespace cordon::audit {
namespace {

class Line {
 public:
  void text(std::string_view key, std::string_view value) {
    name(key);
    append_json_string(line_, value);
  }
  void number(std::string_view key, std::uint64_t value) {
    name(key);
    line_ += std::to_string(value);
  }
  void raw(std::string_view key, const std::string& value) {
    name(key);
    line_ += value;
  }
  std::string take() { return "{" + std::move(line_) + "}"; }

 private:
  void name(std::string_view key) {
    if (!line_.empty()) line_ += ',';
    append_json_string(line_, key);
    line_ += ':';
  }
  std::string line_;
};

std::string list_of(const Enforcement& enforcement) {
  std::string list;
  for (const Mechanism& mechanism : enforcement.mechanisms) {
    Line line;
    line.text("name", mechanism.name);
    line.text("hold", to_string(mechanism.hold));
    line.text("detail", mechanism.detail);
    if (!list.empty()) list += ',';
    list += line.take();
  }
  return "[" + list + "]";
}

struct Describe {
  Line& line;
  void operator()(const PolicyAccepted& event) const {
    line.text("event", "policy_accepted");
    line.text("digest", event.digest);
  }
  void operator()(const SandboxStarted& event) const {
    line.text("event", "sandbox_started");
    line.text("isolation", to_string(event.isolation));
    line.raw("mechanisms", list_of(event.enforcement));
  }
  void operator()(const ActRefused& event) const {
    line.text("event", "act_refused");
    line.text("code", event.denial.code);
    line.text("tried", event.denial.tried);
    line.text("rule", event.denial.rule);
    line.text("why", event.denial.why);
    line.number("count", event.denial.count);
  }
  void operator()(const NetworkUsed& event) const {
    line.text("event", event.ended ? "connection_ended" : "connection_opened");
    line.text("host", event.host);
    line.number("port", event.port);
    if (!event.address.empty()) line.text("address", event.address);
    if (event.count != 1) {
      line.number("count", event.count);
      if (event.status != 0) line.number("status", event.status);
    }
    if (!event.method.empty()) {
      line.text("method", event.method);
      line.text("path", event.path);
      line.number("status", event.status);
    }
    if (!event.ended) return;
    line.number("bytes_out", event.bytes_out);
    line.number("bytes_in", event.bytes_in);
  }
  void operator()(const CredentialUsed& event) const {
    line.text("event", "credential_used");
    line.text("grant", event.grant);
    line.text("host", event.host);
    line.text("method", event.method);
    line.text("path", event.path);
    line.text("verdict", event.verdict);
  }
  void operator()(const FileMoved& event) const {
    if (event.is_tree) {
      line.text("event", event.is_written ? "tree_written" : "tree_read");
    } else {
      line.text("event", event.is_written ? "file_written" : "file_read");
    }
    line.text("tenant", event.tenant);
    if (!event.key.empty()) line.text("key", event.key);
    line.text("request", event.request);
    line.text("path", event.path);
    if (event.offset != 0) line.number("offset", event.offset);
    line.number("bytes", event.bytes);
    line.text("sha256", event.sha256);
    line.raw("whole", event.is_whole ? "true" : "false");
  }
  void operator()(const SandboxEnded& event) const {
    line.text("event", "sandbox_ended");
    line.text("ending", to_string(event.verdict.ending));
    line.number("status", static_cast<std::uint64_t>(event.verdict.status));
    line.number("limit", event.verdict.limit);
    line.number("peak", event.verdict.peak);
    line.text("culprit", event.verdict.culprit);
    line.text("explanation", event.verdict.explanation);
  }
};

}  // namespace

std::string to_line(const SandboxId& sandbox, const AuditEvent& event, WallTime time) {
  Line line;
  line.number("time_ms", static_cast<std::uint64_t>(time.time_since_epoch().count()));
  line.text("sandbox", sandbox.text());
  std::visit(Describe{line}, event);
  return line.take();
}

Result<FileLog> FileLog::open(const os::Fd& directory, const std::string& name,
                              const Clock& clock) {
  auto opened =
      os::openat(directory, name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
  if (!opened) return std::move(opened).error().with("audit log " + name);
  return FileLog{*std::move(opened), clock};
}

Status FileLog::append(const SandboxId& sandbox, const AuditEvent& event) {
  return append(sandbox, std::span{&event, 1});
}

Status FileLog::append(const SandboxId& sandbox, std::span<const AuditEvent> events) {
  std::string lines;
  for (const AuditEvent& event : events) lines += to_line(sandbox, event, clock_.wall()) + '\n';
  // One write with O_APPEND: lines of several runs never mix.
  return os::write_all(file_, lines);
}

}  // namespace cordon::audit
