// SPDX-License-Identifier: Apache-2.0
// cordon audit seal and drop: has the caller's log signed, and lets old records go.
#include <fcntl.h>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "audit/added_range.h"
#include "audit/heads_file.h"
#include "audit/retention.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "cli/audit_heads.h"
#include "cli/audit_verbs.h"
#include "cli/program_beside.h"
#include "cli/run_options.h"
#include "cli/state_root.h"
#include "cli/token_verbs.h"
#include "os/file.h"
#include "os/own_directory.h"
#include "os/spawn.h"
#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAnswer = 4096;

// By the program that alone reads the key. Nothing: there was nothing new.
Result<std::optional<audit::Head>> have_signed(const std::string& log, const std::string& notary) {
  std::error_code ignored;
  fs::create_directories(notary, ignored);
  TRY(os::Pipe out, os::pipe2(O_CLOEXEC));
  TRY(os::Child child,
      os::spawn(program_beside("cordon-notary"), {"cordon-notary", "--seal", log, notary}, {}, {},
                {.out = &out.write}));
  out.write = os::Fd{};
  TRY(std::string answer, os::read_all(out.read, kMostAnswer));
  TRY(const os::ExitStatus ended, std::move(child).wait());
  std::optional<audit::Head> head;
  if (!ended.success()) return Error{Errc::unavailable, "the log was not signed"};
  if (answer.empty()) return head;
  answer.pop_back();
  TRY(head, audit::decode_head(answer));
  return head;
}

Result<std::optional<audit::Head>> seal(const AuditOptions& options, const Context& context) {
  TRY(const std::string log, log_path(options, context));
  TRY(const std::string notary, notary_root(context));
  TRY(auto head, have_signed(log, notary));
  if (!head) {
    // The last one, for anchors that do not have it yet.
    TRY(const os::Fd directory, open_log(options, context));
    TRY(auto heads, audit::read_heads(directory, audit::kHeads));
    if (!heads.empty()) head = std::move(heads.back());
  }
  for (const std::string& anchor : options.anchors) {
    if (!head) break;
    TRY(const os::Fd directory, os::openat(os::at_cwd(), anchor.c_str(), O_RDONLY | O_DIRECTORY));
    TRY(const auto there, audit::read_heads(directory, audit::kHeads));
    if (there.empty() || there.back() != *head) {
      TRY_DO(audit::append_head(directory, audit::kHeads, *head));
    }
  }
  return head;
}

Result<audit::Dropped> drop(const AuditOptions& options, const Context& context) {
  TRY(const std::uint64_t seconds, parse_duration(options.older_than));
  TRY(const std::string path, log_path(options, context));
  TRY(const os::Fd directory, os::open_own_directory(path));
  TRY(os::Fd own, os::duplicate(directory));
  const SystemClock clock;
  TRY(const auto log, audit::Log::open(std::move(own), clock));
  return audit::drop_older(*log, directory, clock.wall() - std::chrono::seconds{seconds});
}

}  // namespace

void audit_seal(const AuditOptions& options, Context& context) {
  const auto head = seal(options, context);
  if (!head) return fail(context, head.error());
  const std::optional<audit::Head>& signed_head = *head;
  if (!signed_head) return fail(context, {Errc::not_found, "the log has no record yet"});
  if (options.json) {
    context.out << encode(*signed_head) << '\n';
    return;
  }
  context.out << fmt::format("signed    {} records of log {}\nroot      {}\nkey       {}\n",
                             signed_head->size, signed_head->log, to_hex(signed_head->root),
                             to_hex(signed_head->key));
}

void audit_drop(const AuditOptions& options, Context& context) {
  const auto dropped = drop(options, context);
  if (!dropped) {
    return dropped.error().code() == Errc::invalid ? fail_typed(context, dropped.error())
                                                   : fail(context, dropped.error());
  }
  if (options.json) {
    wire::JsonWriter json;
    json.begin_object();
    json.number("records", dropped->records);
    json.number("bytes", dropped->bytes);
    json.end_object();
    context.out << json.take() << '\n';
    return;
  }
  context.out << fmt::format("dropped {} records, {} bytes; their hashes are kept\n",
                             dropped->records, dropped->bytes);
}

}  // namespace cordon::cli
