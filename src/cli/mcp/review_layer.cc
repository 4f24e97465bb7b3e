// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/review_layer.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/run_prepare.h"
#include "hash/sha256.h"
#include "os/file_status.h"
#include "os/random.h"
#include "review/patch.h"
#include "review/place.h"
#include "review/scan.h"

namespace cordon::cli {
namespace {

// The kernel dates every change of an entry, and nobody inside can choose that time.
std::string identity_of(const os::Fd& upper, const review::Change& change) {
  std::string what = fmt::format("{}\n{}\n{}\n{:o}\n{}\n{}\n", change.path, to_string(change.kind),
                                 to_string(change.type), change.mode, change.size, change.target);
  // Of directories the entries count, and of a deletion there is no file.
  if (change.type == os::FileType::directory || change.kind == review::ChangeKind::deleted) {
    return what;
  }
  const auto place = review::open_place(upper, change.path);
  const auto status =
      place ? os::statx(place->dir, place->name.c_str()) : Result<os::FileStatus>{place.error()};
  if (!status) return what + status.error().text();
  return fmt::format("{}{}\n{}\n", what, status->inode, status->changed.time_since_epoch().count());
}

std::string digest_of(const os::Fd& upper, const RunId& run,
                      const std::vector<review::Change>& changes) {
  Sha256 hash;
  hash.add(as_bytes(run.text()));
  for (const review::Change& change : changes) {
    const std::string identity = identity_of(upper, change);
    hash.add(as_bytes(fmt::format("\n{}\n", identity.size())));
    hash.add(as_bytes(identity));
  }
  Digest digest{};
  hash.end(digest);
  return to_hex(digest);
}

}  // namespace

ChangeCounts count(const std::vector<review::Change>& changes) {
  ChangeCounts counts;
  for (const review::Change& change : changes) {
    if (change.kind == review::ChangeKind::deleted) {
      ++counts.deleted;
    } else if (change.kind == review::ChangeKind::added) {
      ++counts.added;
    } else {
      ++counts.modified;
    }
  }
  return counts;
}

Result<review::RunDirectory> ReviewLayer::directory() const {
  if (!id_) return Error{Errc::not_found, "nothing waits for review"};
  return review::RunDirectory::open(place_.state, *id_);
}

Result<RunId> ReviewLayer::open() {
  if (id_) {
    auto known = directory();
    // Applied or discarded by a person meanwhile: a new one is begun.
    if (!known && known.error().code() != Errc::not_found) return std::move(known).error();
    if (known) {
      TRY_DO(known->lock());
      held_.emplace(*std::move(known));
      return *id_;
    }
  }
  TRY(const auto random, os::random_bytes<10>());
  TRY(const RunId id, RunId::parse(SandboxId::from_bytes(random).text()));
  const WallTime now = clock_.wall();
  TRY(auto made, review::RunDirectory::create(place_.state, {.id = id,
                                                             .command = {"cordon", "mcp", "serve"},
                                                             .workspace = place_.workspace,
                                                             .started = now,
                                                             .expires = now + kReviewAge,
                                                             .marks = place_.marks}));
  held_.emplace(std::move(made));
  id_ = id;
  return id;
}

void ReviewLayer::close(const std::string& verdict) {
  if (!held_) return;
  review::RunRecord kept = held_->record();
  kept.ended = clock_.wall();
  kept.expires = *kept.ended + kReviewAge;
  kept.verdict = verdict;
  static_cast<void>(held_->save(std::move(kept)));
  held_.reset();
}

Result<LayerView> ReviewLayer::view(const review::RunDirectory& run, std::size_t most) {
  TRY(const os::Fd upper, run.open_upper());
  TRY(const os::Fd workspace, run.open_workspace());
  LayerView view{.run = run.record().id};
  TRY(view.changes, review::scan(upper, workspace,
                                 {.marks = run.record().marks,
                                  .started = run.record().started,
                                  .limits = {.entries = most}}));
  view.digest = digest_of(upper, run.record().id, view.changes);
  return view;
}

Result<LayerView> ReviewLayer::look(std::size_t most) const {
  if (held_) return view(*held_, most);
  const auto run = directory();
  if (run) return view(*run, most);
  if (run.error().code() == Errc::not_found) return LayerView{.digest = "nothing"};
  return run.error();
}

Result<std::string> ReviewLayer::patch(const review::Change& change) const {
  const auto of = [&](const review::RunDirectory& run) -> Result<std::string> {
    TRY(const os::Fd upper, run.open_upper());
    TRY(const os::Fd workspace, run.open_workspace());
    return review::patch(change, upper, workspace);
  };
  if (held_) return of(*held_);
  TRY(const auto run, directory());
  return of(run);
}

Result<review::ApplyReport> ReviewLayer::apply(const review::Selection& selection,
                                               const std::string& digest) {
  if (held_) return Error{Errc::unavailable, "a sandbox still writes to what would be applied"};
  TRY(auto run, directory());
  // From here on nobody writes to it.
  TRY_DO(run.lock());
  TRY(const LayerView now, view(run, review::ScanLimits{}.entries));
  if (now.digest != digest) {
    return Error{Errc::invalid, "what waits is not what was shown: look at it again with diff"};
  }
  return review::apply(std::move(run), {.selection = selection});
}

std::optional<RunId> ReviewLayer::settle() {
  if (!id_) return std::nullopt;
  auto run = directory();
  if (!run) return std::nullopt;
  const auto left = view(*run, review::ScanLimits{}.entries);
  if (left && left->changes.empty() && std::move(*run).remove()) return std::nullopt;
  return id_;
}

}  // namespace cordon::cli
