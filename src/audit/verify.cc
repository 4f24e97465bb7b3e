// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.h"

#include <algorithm>
#include <fcntl.h>

#include "audit/leaves.h"
#include "audit/record.h"
#include "audit/segment.h"
#include "audit/segment_lines.h"
#include "base/bytes.h"
#include "os/file.h"
#include "os/file_status.h"

namespace cordon::audit {
namespace {

class Verifier {
 public:
  Verifier(std::span<const Head> heads, const IsTrusted& is_trusted)
      : heads_{heads.begin(), heads.end()}, is_trusted_{is_trusted} {
    std::ranges::sort(heads_, {}, &Head::size);
  }

  // These give false where something was found, and nothing more is to be read.

  // The first that is kept says which log it is, also of those before it.
  Result<bool> name(const os::Fd& directory, std::uint64_t first) {
    const std::string name = segment_name(first);
    TRY(const os::Fd file, os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW));
    SegmentLines lines{file, 0};
    TRY(const auto line, lines.next());
    const auto head = line ? decode_segment_head(*line) : Error{Errc::invalid, "empty"};
    if (!head) return found("the segment " + name + " does not begin with a head");
    result_.log = head->log;
    return heads_hold();
  }

  Result<bool> segment(const os::Fd& directory, std::uint64_t first, bool is_last) {
    const std::string name = segment_name(first);
    TRY(const os::Fd file, os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW));
    SegmentLines lines{file, 0};
    TRY(const auto line, lines.next());
    if (!begins(line, first, name)) return false;
    while (true) {
      TRY(const auto next, lines.next());
      if (!next) break;
      if (!record(*next)) return false;
    }
    TRY(const os::FileStatus status, os::statx(file));
    result_.unfinished = status.size - std::min(status.size, lines.offset());
    if (result_.unfinished == 0 || is_last) return true;
    return found("the segment " + name + " does not end with a whole record");
  }

  // Of records that are not kept any more.
  Result<bool> leaves(const os::Fd& directory, std::uint64_t first) {
    const std::string name = leaves_name(first);
    if (first != tree_.end()) return found("records are missing before " + name);
    auto all = read_leaves(directory, first, [&](const Digest& leaf) {
      ++result_.dropped;
      return add(leaf);
    });
    if (!all && all.error().code() == Errc::invalid) return found(all.error().text());
    return all;
  }

  Verified conclude() {
    if (!result_.finding && unsure_) found(unsure_->record, unsure_->what);
    if (!result_.finding && result_.dropped > told_dropped_) {
      found(told_dropped_, "records from here up to " + std::to_string(result_.dropped) +
                               " are gone, and the log does not say that they were dropped");
    }
    // Heads of records that the log no longer has, or has not yet.
    while (!result_.finding && next_head_ < heads_.size()) {
      const Head& head = heads_[next_head_++];
      if (head.log != result_.log) continue;
      if (is_trusted_(head)) {
        found("a signed head tells of " + std::to_string(head.size) + " records; the log has " +
              std::to_string(result_.records));
      } else {
        found("a head is not signed by a key that is trusted here");
      }
    }
    result_.root = tree_.root();
    return std::move(result_);
  }

 private:
  bool found(std::string what) { return found(result_.records, std::move(what)); }
  bool found(std::uint64_t record, std::string what) {
    result_.finding = Finding{record, std::move(what)};
    return false;
  }

  bool begins(const std::optional<std::string_view>& line, std::uint64_t first,
              const std::string& name) {
    const auto head = line ? decode_segment_head(*line) : Error{Errc::invalid, "empty"};
    if (!head) return found("the segment " + name + " does not begin with a head");
    if (head->log != result_.log) return found("the segment " + name + " is of another log");
    if (first != tree_.end()) return found("records are missing before the segment " + name);
    if (head->tree != tree_ || head->before != before_) {
      return found("the segment " + name + " does not follow the one before");
    }
    return true;
  }

  bool record(std::string_view line) {
    const auto link = link_of(line);
    if (!link) return found("a line is no record");
    if (link->number != tree_.end()) {
      return found("the record says that it is number " + std::to_string(link->number));
    }
    if (link->before != before_) {
      return found(result_.records - std::min<std::uint64_t>(result_.records, 1),
                   "this record, or where the next one says that it follows, was changed");
    }
    const auto decoded = decode(line);
    if (!decoded) ++result_.unknown;
    if (const auto* dropped = decoded ? std::get_if<RecordsDropped>(&decoded->event) : nullptr) {
      told_dropped_ = std::max(told_dropped_, dropped->end);
    }
    return add(leaf_hash(as_bytes(line)));
  }

  bool add(const Digest& leaf) {
    if (unsure_) return found(unsure_->record, unsure_->what);
    before_ = leaf;
    tree_.add(leaf);
    ++result_.records;
    return heads_hold();
  }

  std::string does_not_fit(const Head& head) const {
    if (head.size == result_.sealed) {
      return "two heads of " + std::to_string(head.size) +
             " records were signed, which differ: there are two histories of this log";
    }
    return "the records from here up to " + std::to_string(head.size) +
           " are not those that were signed";
  }

  // Those of the size that was reached.
  bool heads_hold() {
    for (; next_head_ < heads_.size() && heads_[next_head_].size <= tree_.end(); ++next_head_) {
      const Head& head = heads_[next_head_];
      if (head.log != result_.log) continue;
      if (!is_trusted_(head)) return found("a head is not signed by a key that is trusted here");
      if (head.root != tree_.root()) {
        // All since the last head that fits may be others; unless the next record says that it
        // followed another one than the last of them.
        if (!unsure_) unsure_ = Finding{result_.sealed, does_not_fit(head)};
        continue;
      }
      result_.sealed = head.size;
      ++result_.heads;
    }
    return true;
  }

  std::vector<Head> heads_;
  std::size_t next_head_ = 0;
  const IsTrusted& is_trusted_;
  TreeRange tree_;
  Digest before_{};
  std::optional<Finding> unsure_;   // of a head that does not fit; the next record tells more
  std::uint64_t told_dropped_ = 0;  // records, by the log itself
  Verified result_;
};

}  // namespace

Result<Verified> verify(const os::Fd& directory, std::span<const Head> heads,
                        const IsTrusted& is_trusted) {
  TRY(const auto segments, list_segments(directory));
  if (segments.empty()) return Error{Errc::not_found, "audit log: there is no segment"};
  TRY(const auto dropped, list_leaves(directory));
  Verifier verifier{heads, is_trusted};
  TRY(const bool is_named, verifier.name(directory, segments.front()));
  if (!is_named) return verifier.conclude();
  for (const std::uint64_t first : dropped) {
    // Whoever dropped it died before the segment went.
    if (std::ranges::binary_search(segments, first)) break;
    TRY(const bool is_well, verifier.leaves(directory, first));
    if (!is_well) return verifier.conclude();
  }
  for (const std::uint64_t first : segments) {
    TRY(const bool is_well, verifier.segment(directory, first, first == segments.back()));
    if (!is_well) break;
  }
  return verifier.conclude();
}

}  // namespace cordon::audit
