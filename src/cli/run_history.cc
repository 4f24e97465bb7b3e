// SPDX-License-Identifier: Apache-2.0
#include "cli/run_history.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "cli/state_root.h"
#include "node/denial_book.h"
#include "policy/glob.h"
#include "review/run_directory.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;
using policy::Access;

// Each record that is about a sandbox.
Status each_of_a_sandbox(const AuditOptions& options, const Context& context,
                         const std::function<void(const audit::Record&)>& take) {
  TRY(os::Fd directory, open_log(options, context));
  TRY(audit::LogReader reader, audit::LogReader::open(std::move(directory)));
  return each_record(reader, [&take](std::string_view, const audit::Record* record) {
    if (record != nullptr && !record->subject.sandbox.empty()) take(*record);
    return true;
  });
}

Result<std::string> wanted_sandbox(const AuditOptions& options, const Context& context,
                                   const std::string& wanted) {
  std::string found;
  TRY_DO(each_of_a_sandbox(options, context, [&](const audit::Record& record) {
    const bool begins = std::holds_alternative<PolicyAccepted>(record.event) ||
                        std::holds_alternative<ActRefused>(record.event);
    const std::string& id = record.subject.sandbox;
    if (begins && (wanted.empty() || wanted == id)) found = id;
  }));
  if (!found.empty()) return found;
  return Error{Errc::not_found, wanted.empty() ? "the log tells of no run yet"
                                               : "the log tells of no sandbox of that id"};
}

// Collects acts, each with its one spelling.
class ActBook {
 public:
  explicit ActBook(std::uint64_t& unasked) : unasked_{unasked} {}

  void path(Access access, const std::string& path, const std::string& directory = {}) {
    const fs::path whole = path.starts_with('/') ? fs::path{path} : fs::path{directory} / path;
    std::string normal = whole.lexically_normal().string();
    if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
    if (!policy::is_normal_path(normal)) {
      ++unasked_;
    } else {
      acts_.emplace_back(policy::PathAct{access, std::move(normal)});
    }
  }
  void net(policy::NetAct act) { acts_.emplace_back(std::move(act)); }
  std::vector<policy::Act> take() { return std::move(acts_); }

 private:
  std::uint64_t& unasked_;
  std::vector<policy::Act> acts_;
};

void add_touched(ActBook& book, const FileTouched& file) {
  if (file.act == "read") return book.path(Access::read, file.path);
  // What gets a second name is not written; what a symbolic link names is not touched.
  if (!file.act.starts_with("link")) book.path(Access::write, file.path);
  if (!file.to.empty() && !file.act.starts_with("symlink")) book.path(Access::write, file.to);
}

}  // namespace

std::vector<policy::Act> acts_of(const AuditEvent& event, std::uint64_t& unasked) {
  ActBook book{unasked};
  if (const auto* const file = std::get_if<FileTouched>(&event)) add_touched(book, *file);
  if (const auto* const program = std::get_if<ProgramStarted>(&event)) {
    book.path(Access::exec, program->program, program->directory);
  }
  const auto* const used = std::get_if<NetworkUsed>(&event);
  // A connection is told when it is opened, and again when it has ended.
  if (used != nullptr && !(used->ended && used->method.empty())) {
    book.net({.host = used->host, .port = used->port, .method = used->method, .path = used->path});
  }
  return book.take();
}

Result<RunHistory> read_history(const AuditOptions& options, const Context& context,
                                const std::string& sandbox) {
  RunHistory run;
  TRY(run.sandbox, wanted_sandbox(options, context, sandbox));
  node::DenialBook denials;
  std::map<policy::Act, std::uint64_t> done;
  TRY_DO(each_of_a_sandbox(options, context, [&](const audit::Record& record) {
    if (record.subject.sandbox != run.sandbox) return;
    run.tenant = record.subject.tenant;
    if (const auto* refused = std::get_if<ActRefused>(&record.event)) denials.add(refused->denial);
    if (const auto* ended = std::get_if<SandboxEnded>(&record.event)) run.verdict = ended->verdict;
    const auto* const used = std::get_if<NetworkUsed>(&record.event);
    const std::uint64_t uses = used != nullptr ? std::max<std::uint64_t>(used->count, 1) : 1;
    for (policy::Act& act : acts_of(record.event, run.unasked)) done[std::move(act)] += uses;
  }));
  run.denials = denials.take();
  for (const Denial& denial : run.denials) {
    if (auto act = policy::act_of(denial)) {
      run.acts.push_back({*std::move(act), true, denial.count});
    } else {
      run.unasked += denial.count;
    }
  }
  for (auto& [act, uses] : done) run.acts.push_back({act, false, uses});
  return run;
}

std::string workspace_of(const RunHistory& run, const std::string& said, const Context& context) {
  std::error_code ignored;
  if (!said.empty()) return fs::weakly_canonical(said, ignored).string();
  if (!run.tenant.empty()) return "/workspace";
  if (const auto state = state_root(context)) {
    if (const auto list = review::RunDirectory::list(*state)) {
      const auto kept = std::ranges::find_if(list->runs, [&](const review::RunRecord& record) {
        return record.id.text() == run.sandbox;
      });
      if (kept != list->runs.end()) return kept->workspace;
    }
  }
  return fs::current_path(ignored).string();
}

}  // namespace cordon::cli
