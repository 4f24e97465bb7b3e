// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log of which a head is known: something is found, or they begin with the very
// records that the head tells of.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>

#include "audit/record.h"
#include "audit/segment.h"
#include "audit/verify.h"
#include "base/bytes.h"
#include "os/directory.h"
#include "os/file.h"
#include "promise.h"

namespace {

namespace audit = cordon::audit;
namespace os = cordon::os;
using cordon::fuzz::broken;

constexpr int kRecords = 6;

struct Known {
  std::string bytes;
  audit::Head head;
};

Known known() {
  audit::SegmentHead begun{.log = "k7f3", .before = {}, .tree = audit::TreeRange{}};
  Known made{.bytes = audit::encode(begun) + '\n', .head = {}};
  cordon::Digest before{};
  audit::TreeRange tree;
  for (int i = 0; i < kRecords; ++i) {
    const std::string line = audit::encode({.number = tree.end(),
                                            .time = {},
                                            .ticks = 7,
                                            .before = before,
                                            .subject = {.tenant = {}, .sandbox = "k7f3"},
                                            .event = cordon::PolicyAccepted{"d"},
                                            .cuts = {}});
    before = audit::leaf_hash(cordon::as_bytes(line));
    tree.add(before);
    made.bytes += line + '\n';
  }
  made.head.log = begun.log;
  made.head.size = tree.end();
  made.head.root = tree.root();
  return made;
}

// Gone with the process that made it.
class Directory {
 public:
  Directory() {
    std::string path = "/tmp/cordon-fuzz-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) broken("a directory can be made");
    path_ = path;
    fd_ = *os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    static_cast<void>(os::unlinkat(fd_, audit::segment_name(0).c_str()));
    ::rmdir(path_.c_str());
  }
  const os::Fd& put(std::string_view bytes) {
    static_cast<void>(os::unlinkat(fd_, audit::segment_name(0).c_str()));
    if (!os::create_file(fd_, audit::segment_name(0).c_str(), bytes, S_IRUSR | S_IWUSR)) {
      broken("a file can be made");
    }
    return fd_;
  }

 private:
  std::string path_;
  os::Fd fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Known kKnown = known();
  static Directory directory;
  const std::string_view bytes = cordon::as_text(std::as_bytes(std::span{data, size}));
  const auto seen = audit::verify(directory.put(bytes), std::span{&kKnown.head, 1},
                                  [](const audit::Head& /*head*/) { return true; });
  if (!seen || seen->finding) return 0;
  // A log of another name is another log: the head says nothing of it.
  if (seen->log != kKnown.head.log) return 0;
  if (!bytes.starts_with(kKnown.bytes)) broken("what a head tells of cannot be changed unseen");
  return 0;
}
