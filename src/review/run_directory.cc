// SPDX-License-Identifier: Apache-2.0
#include "review/run_directory.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "os/directory.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "review/remove_tree.h"

namespace cordon::review {
namespace {

constexpr std::string_view kGone = ".gone-";  // a removal begun: no id starts with a dot
constexpr std::size_t kMostRuns = 1'000'000;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

// Whoever can write here can make us apply what no sandbox wrote.
Status require_private(const os::Fd& dir, const std::string& path) {
  TRY(const auto status, os::statx(dir));
  const bool ours = status.uid == ::geteuid() || status.uid == 0;
  if (ours && (status.mode & 022U) == 0) return {};
  return Error{Errc::denied, path + ": must belong to you and be writable by nobody else"};
}

Result<os::Fd> open_runs(const std::string& state_root) {
  const std::string path = state_root + "/runs";
  TRY(os::Fd runs, os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY));
  TRY_DO(require_private(runs, path));
  return runs;
}

Result<os::Fd> make_runs(const std::string& state_root) {
  std::error_code error;
  std::filesystem::create_directories(state_root, error);
  if (error) return Error::from_errno("mkdir", error.value()).with(state_root);
  TRY(const os::Fd root, os::openat(os::at_cwd(), state_root.c_str(), O_RDONLY | O_DIRECTORY));
  auto made = os::mkdirat(root, "runs", 0700);
  if (!made && made.error().code() != Errc::exists) return std::move(made).error();
  return open_runs(state_root);
}

Result<RunRecord> read_record(const os::Fd& dir) {
  TRY(const os::Fd file, os::openat(dir, "run.json", O_RDONLY | O_NOFOLLOW));
  TRY(const std::string text, os::read_all(file, os::kSmallFile));
  return parse_run_record(text);
}

Result<os::Fd> open_lock(const os::Fd& dir) {
  return os::openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
}

Status make_upper(const os::Fd& dir, const os::FileStatus& workspace) {
  TRY_DO(os::mkdirat(dir, "upper", 0700));
  TRY(const os::Fd upper, os::openat(dir, "upper", kOpenDirectory));
  if (::geteuid() == 0) TRY_DO(os::fchown(upper, workspace.uid, workspace.gid));
  return os::fchmod(upper, workspace.mode & 0777U);
}

Status sweep(const os::Fd& runs, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.starts_with(kGone)) TRY_DO(remove_tree(runs, name.c_str()));
  }
  return {};
}

}  // namespace

Result<RunDirectory> RunDirectory::create(const std::string& state_root, const NewRun& run) {
  if (!run.workspace.starts_with('/')) {
    return Error{Errc::invalid, run.workspace + ": a workspace is named by its absolute path"};
  }
  TRY(const os::Fd workspace,
      os::openat(os::at_cwd(), run.workspace.c_str(), O_RDONLY | O_DIRECTORY));
  TRY(const auto status, os::statx(workspace));
  TRY(os::Fd runs, make_runs(state_root));
  TRY_DO(os::mkdirat(runs, run.id.text().c_str(), 0700));
  TRY(os::Fd dir, os::openat(runs, run.id.text().c_str(), kOpenDirectory));
  RunDirectory made{std::move(runs), std::move(dir),
                    RunRecord{.id = run.id,
                              .command = run.command,
                              .workspace = run.workspace,
                              .device = status.device,
                              .inode = status.inode,
                              .started = run.started,
                              .expires = run.expires,
                              .marks = run.marks}};
  TRY_DO(made.lock());
  TRY_DO(make_upper(made.dir_, status));
  TRY_DO(os::mkdirat(made.dir_, "work", 0700));
  TRY_DO(made.save(made.record_));
  return made;
}

Result<RunDirectory> RunDirectory::open(const std::string& state_root, const RunId& id) {
  auto runs = open_runs(state_root);
  if (!runs) return std::move(runs).error().with("run " + id.text());
  auto dir = os::openat(*runs, id.text().c_str(), kOpenDirectory);
  if (!dir) return std::move(dir).error().with("run " + id.text());
  auto record = read_record(*dir);
  if (!record) return std::move(record).error().with("run " + id.text());
  if (record->id != id) return Error{Errc::invalid, "run " + id.text() + ": run.json is another's"};
  return RunDirectory{*std::move(runs), *std::move(dir), *std::move(record)};
}

Result<RunList> RunDirectory::list(const std::string& state_root) {
  auto runs = open_runs(state_root);
  if (!runs && runs.error().code() == Errc::not_found) return RunList{};
  if (!runs) return std::move(runs).error();
  TRY(const auto names, os::list_directory(*runs, kMostRuns));
  RunList found;
  for (const std::string& name : names) {
    if (!is_base32_name(name)) continue;
    const auto dir = os::openat(*runs, name.c_str(), kOpenDirectory);
    auto record = dir ? read_record(*dir) : Result<RunRecord>{Error{Errc::invalid, "unreadable"}};
    if (record && record->id.text() == name) {
      found.runs.push_back(*std::move(record));
    } else {
      found.unreadable.push_back(name);
    }
  }
  std::ranges::sort(found.runs, [](const RunRecord& a, const RunRecord& b) {
    return a.started != b.started ? a.started > b.started : a.id < b.id;
  });
  std::ranges::sort(found.unreadable);
  return found;
}

Result<std::vector<RunId>> RunDirectory::expire(const std::string& state_root, WallTime now) {
  std::vector<RunId> removed;
  TRY(const RunList found, list(state_root));
  for (const RunRecord& record : found.runs) {
    if (!record.expires || *record.expires > now) continue;
    auto run = open(state_root, record.id);
    if (!run || !run->lock()) continue;  // just removed by another, or alive
    TRY_DO(std::move(*run).remove());
    removed.push_back(record.id);
  }
  const auto runs = open_runs(state_root);
  if (!runs) return removed;
  TRY(const auto names, os::list_directory(*runs, kMostRuns));
  TRY_DO(sweep(*runs, names));
  return removed;
}

Status RunDirectory::save(RunRecord record) {
  // A reader sees the old text or the new, also when we die in between.
  TRY_DO(remove_tree(dir_, "run.json.new"));
  TRY_DO(os::create_file(dir_, "run.json.new", to_json(record), 0600));
  TRY_DO(os::renameat(dir_, "run.json.new", dir_, "run.json", os::Replace::allow));
  record_ = std::move(record);
  return {};
}

Status RunDirectory::lock() {
  if (lock_) return {};
  TRY(os::Fd file, open_lock(dir_));
  if (!os::try_flock(file, os::Lock::exclusive)) {
    return Error{Errc::unavailable, "run " + record_.id.text() + ": still running"};
  }
  lock_ = std::move(file);
  return {};
}

bool RunDirectory::is_held_by_another() const {
  if (lock_) return false;
  const auto file = open_lock(dir_);
  return file && !os::try_flock(*file, os::Lock::shared);
}

Result<os::Fd> RunDirectory::open_upper() const {
  return os::openat(dir_, "upper", kOpenDirectory);
}

Result<os::Fd> RunDirectory::open_work() const { return os::openat(dir_, "work", kOpenDirectory); }

Result<os::Fd> RunDirectory::open_workspace() const {
  TRY(os::Fd workspace,
      os::openat(os::at_cwd(), record_.workspace.c_str(), O_RDONLY | O_DIRECTORY));
  TRY(const auto status, os::statx(workspace));
  if (status.device == record_.device && status.inode == record_.inode) return workspace;
  return Error{Errc::invalid, record_.workspace +
                                  ": not the directory that the run worked on; it was moved or "
                                  "replaced"};
}

Status RunDirectory::remove() && {
  TRY_DO(lock());
  // From here on nobody finds it by its id, whatever happens to us.
  const std::string gone = std::string{kGone} + record_.id.text();
  TRY_DO(os::renameat(runs_, record_.id.text().c_str(), runs_, gone.c_str(), os::Replace::refuse));
  return remove_tree(runs_, gone.c_str());
}

}  // namespace cordon::review
