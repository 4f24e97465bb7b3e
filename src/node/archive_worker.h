// SPDX-License-Identifier: Apache-2.0
// One cordon-unpack at its job. What an archive has in it is read there, confined, and never here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::node {

// Destroying it ends it. Used from the loop's thread only; writes may overlap reads.
class ArchiveWorker {
 public:
  // `place` is let go of at its end.
  static Result<ArchiveWorker> start(const asio::any_io_executor& executor,
                                     const std::string& program, std::vector<std::string> arguments,
                                     std::shared_ptr<void> place);

  // Returns when it has them. `unavailable`: it reads no more, because it has said its last word or
  // has died.
  async::Task<void> write(std::string_view bytes);
  void end_input();
  // 0: it says no more.
  async::Task<std::size_t> read_some(std::span<char> room);
  // Behind its last byte: an error where it was not able to do its job, in its own words.
  async::Task<void> ended();

 private:
  ArchiveWorker(const asio::any_io_executor& executor, os::Child child, os::Fd in, os::Fd out,
                os::Fd words, os::Fd end, std::shared_ptr<void> place);

  os::Child child_;
  asio::posix::stream_descriptor in_;
  asio::posix::stream_descriptor out_;
  os::Fd words_;                         // its standard error
  asio::posix::stream_descriptor ends_;  // readable when it has ended
  std::shared_ptr<void> place_;
};

// How much of archives is believed, and how many are read or written at once.
struct ArchiveRules {
  std::string program;  // cordon-unpack
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{4} << 30U;  // of the files of one
  std::uint64_t at_once = 8;
};

// Starts a worker for each archive. Used from the loop's thread only.
class Archives {
 public:
  Archives(asio::any_io_executor executor, ArchiveRules rules)
      : executor_{std::move(executor)}, rules_{std::move(rules)} {}

  // Takes an archive, tells its entries (frame::FromArchive). `exhausted`: too many are at work.
  Result<ArchiveWorker> reader();
  // Takes entries (frame::ToArchive), tells an archive: "tar", "tar.gz", "tar.zst".
  Result<ArchiveWorker> writer(std::string packing);
  const ArchiveRules& rules() const noexcept { return rules_; }

 private:
  Result<ArchiveWorker> start(std::vector<std::string> arguments);

  asio::any_io_executor executor_;
  ArchiveRules rules_;
  std::shared_ptr<std::uint64_t> at_work_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace cordon::node
