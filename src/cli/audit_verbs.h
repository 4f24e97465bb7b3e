// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon audit`. Each writes to the context's streams and sets its exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/head.h"
#include "audit/log_reader.h"
#include "audit/record.h"
#include "base/result.h"
#include "cli/verbs.h"
#include "os/fd.h"

namespace cordon::cli {

struct AuditOptions {
  std::string log;                   // a directory; empty: the caller's own
  std::vector<std::string> anchors;  // files of heads, or directories with one
  std::vector<std::string> keys;     // that are trusted: hex, or files with that
  std::string proof;                 // a file
  std::vector<std::string> terms;
  std::uint64_t last = 10;
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  std::optional<std::uint64_t> record;
  std::optional<std::uint64_t> since;
  std::string older_than;
  bool follow = false;
  bool count = false;
  bool json = false;
};

void audit_verify(const AuditOptions& options, Context& context);
void audit_tail(const AuditOptions& options, Context& context);
void audit_query(const AuditOptions& options, Context& context);
void audit_export(const AuditOptions& options, Context& context);
void audit_prove(const AuditOptions& options, Context& context);
void audit_seal(const AuditOptions& options, Context& context);
void audit_drop(const AuditOptions& options, Context& context);

// Whether the proof in a file holds; what `verify --proof` says.
void audit_check_proof(const AuditOptions& options, Context& context);

// The directory of the log that is meant.
Result<std::string> log_path(const AuditOptions& options, const Context& context);
// The same, open for reading.
Result<os::Fd> open_log(const AuditOptions& options, const Context& context);

// Has it signed in the background, where the last head is older than a minute: who runs a command
// does not wait for it. A failure changes nothing: the next run does it again.
void seal_soon(const std::string& state, const Context& context);

// Each line from `reader`, with its record, until there is none, or `take` says false. A record of
// a newer version has none.
Status each_record(
    audit::LogReader& reader,
    const std::function<bool(std::string_view line, const audit::Record* record)>& take);

// One line for a person, with its newline; nothing in it can change a terminal.
std::string words_of(const audit::Record& record);

}  // namespace cordon::cli
