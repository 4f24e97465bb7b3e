// SPDX-License-Identifier: Apache-2.0
// Whole trees between an archive and whoever makes or reads files: a sandbox's guest, or this
// machine in `cordon cp`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "async/task.h"
#include "frame/archive.h"
#include "frame/guest.h"
#include "node/archive_worker.h"

namespace cordon::node {

// One act, whose error_number is a value.
using WriteTree = std::function<async::Task<frame::FileReply>(frame::WriteTree)>;
using ReadTree = std::function<async::Task<frame::FileReply>(frame::ReadTree)>;

// The archive is made, or was refused at an entry: then what came before it may be there.
using Received = std::variant<frame::ArchiveEnd, frame::ArchiveRefused>;
// What `worker`, a reader, tells of its archive, through `act`, until its last word. An error: a
// file could not be made, which is named, or the worker broke off.
async::Task<Received> receive_tree(ArchiveWorker& worker, WriteTree act);

struct TreeCounts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

// A tree on its way into an archive.
class TreeSource {
 public:
  // `exhausted` beyond as many entries, or bytes of files.
  TreeSource(ReadTree act, TreeCounts most) : act_{std::move(act)}, most_{most} {}

  // The first part: what cannot be read at all is told here.
  async::Task<void> begin();
  // All of it, to `worker`, a writer, whose input ends with it. What it tells is read meanwhile by
  // somebody else.
  async::Task<void> send(ArchiveWorker& worker);
  const TreeCounts& counts() const noexcept { return counts_; }

 private:
  async::Task<void> ask();
  async::Task<void> put(ArchiveWorker& worker, frame::ToArchive told);
  async::Task<void> send_part(ArchiveWorker& worker);
  async::Task<void> send_file(ArchiveWorker& worker, const std::string& name, std::uint64_t size,
                              std::string_view bytes);
  Status count(std::uint64_t size);

  ReadTree act_;
  TreeCounts most_;
  TreeCounts counts_;
  frame::FileReply part_;
  std::string after_;
  std::string framed_;  // not written yet
};

}  // namespace cordon::node
