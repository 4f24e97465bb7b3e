// SPDX-License-Identifier: Apache-2.0
#include "cli/find_run.h"

#include <algorithm>
#include <filesystem>

#include "os/file.h"
#include "os/file_status.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortestPrefix = 4;

Result<fs::path> current_directory() {
  std::error_code error;
  fs::path here = fs::current_path(error);
  if (error) return Error::from_errno("getcwd", error.value());
  return here;
}

Result<os::FileStatus> identity_of(const fs::path& path) {
  TRY(const os::Fd dir, os::openat(os::at_cwd(), path.c_str(), O_PATH | O_DIRECTORY));
  return os::statx(dir);
}

bool is_inside(const fs::path& relative) { return !relative.empty() && *relative.begin() != ".."; }

}  // namespace

Result<RunId> run_named(const std::string& state_root, std::string_view word) {
  TRY(const auto list, review::RunDirectory::list(state_root));
  std::optional<RunId> found;
  for (const auto& record : list.runs) {
    if (record.id.text() == word) return record.id;
    if (word.size() < kShortestPrefix || !record.id.text().starts_with(word)) continue;
    if (found) return Error{Errc::invalid, std::string{word} + ": several runs begin so"};
    found = record.id;
  }
  if (found) return *std::move(found);
  return Error{Errc::not_found, "no run has this id"};
}

Result<RunId> newest_run_here(const std::string& state_root) {
  TRY(const fs::path here, current_directory());
  TRY(const auto list, review::RunDirectory::list(state_root));
  for (fs::path at = here;; at = at.parent_path()) {
    if (const auto dir = identity_of(at)) {
      const auto run = std::ranges::find_if(list.runs, [&](const review::RunRecord& record) {
        return record.device == dir->device && record.inode == dir->inode;
      });
      if (run != list.runs.end()) return run->id;
    }
    if (at == at.parent_path()) break;
  }
  return Error{Errc::not_found, "no run of this directory is kept for review"};
}

Result<std::string> path_in_workspace(const std::string& word, const std::string& workspace) {
  TRY(const fs::path here, current_directory());
  std::error_code error;
  const fs::path top = fs::canonical(workspace, error);
  if (error) return Error::from_errno("realpath", error.value()).with(workspace);
  fs::path path{word};
  if (path.is_absolute()) {
    // The workspace may be known under another name than its canonical one.
    const fs::path relative = path.lexically_relative(workspace);
    if (is_inside(relative)) path = top / relative;
  } else {
    path = (is_inside(here.lexically_relative(top)) ? here : top) / path;
  }
  std::string relative = path.lexically_normal().lexically_relative(top).string();
  if (!is_inside(relative)) return Error{Errc::invalid, word + ": outside the run's workspace"};
  while (relative.size() > 1 && relative.ends_with('/')) relative.pop_back();
  return relative;
}

Error escaped(const Error& error) {
  return Error{error.code(), review::printable(error.text(), review::Spelling::line)};
}

}  // namespace cordon::cli
