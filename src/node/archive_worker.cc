// SPDX-License-Identifier: Apache-2.0
#include "node/archive_worker.h"

#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/waiting.h"
#include "os/file.h"
#include "os/spawn.h"
#include "policy/text.h"

namespace cordon::node {
namespace {

// From its last byte to its end there is nothing left for it to do.
constexpr std::chrono::seconds kEnding{5};
constexpr std::size_t kMostWords = 4096;
// Neither side waits for the other at every step.
constexpr std::size_t kPipe = std::size_t{1} << 20U;

async::Task<void> wait_readable(asio::posix::stream_descriptor& descriptor) {
  co_await descriptor.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
  co_return Status{};
}

}  // namespace

ArchiveWorker::ArchiveWorker(const asio::any_io_executor& executor, os::Child child, os::Fd in,
                             os::Fd out, os::Fd words, os::Fd end, std::shared_ptr<void> place)
    : child_{std::move(child)},
      in_{executor, in.release()},
      out_{executor, out.release()},
      words_{std::move(words)},
      ends_{executor, end.release()},
      place_{std::move(place)} {}

Result<ArchiveWorker> ArchiveWorker::start(const asio::any_io_executor& executor,
                                           const std::string& program,
                                           std::vector<std::string> arguments,
                                           std::shared_ptr<void> place) {
  arguments.insert(arguments.begin(), "cordon-unpack");
  TRY(os::Piped started, os::spawn_piped(program, std::move(arguments), kPipe));
  TRY(os::Fd end, os::duplicate(started.child.pidfd()));
  return ArchiveWorker{executor,
                       std::move(started.child),
                       std::move(started.in),
                       std::move(started.out),
                       std::move(started.err),
                       std::move(end),
                       std::move(place)};
}

async::Task<void> ArchiveWorker::write(std::string_view bytes) {
  if (!in_.is_open()) co_return Error{Errc::unavailable, "cordon-unpack was told the end already"};
  const auto [error, count] = co_await asio::async_write(in_, asio::buffer(bytes), async::kQuiet);
  if (error) co_return Error{Errc::unavailable, "cordon-unpack reads no more"};
  co_return Status{};
}

void ArchiveWorker::end_input() {
  boost::system::error_code ignored;
  if (in_.is_open()) in_.close(ignored);
}

async::Task<std::size_t> ArchiveWorker::read_some(std::span<char> room) {
  const auto [error, count] =
      co_await out_.async_read_some(asio::buffer(room.data(), room.size()), async::kQuiet);
  if (error && error != asio::error::eof) {
    co_return Error{Errc::unavailable, "cordon-unpack cannot be heard: " + error.message()};
  }
  co_return count;
}

async::Task<void> ArchiveWorker::ended() {
  CO_TRY_DO(co_await async::within(kEnding, wait_readable(ends_)));
  CO_TRY(const os::ExitStatus status, std::move(child_).wait());
  if (status.kind == os::ExitStatus::Kind::exited && status.value == 0) co_return Status{};
  const auto words = os::read_all(words_, kMostWords);
  const bool exited = status.kind == os::ExitStatus::Kind::exited;
  co_return Error{Errc::unavailable,
                  fmt::format("cordon-unpack ended with {} {}: {}", exited ? "status" : "signal",
                              status.value, policy::printable(words ? *words : std::string{}))};
}

Result<ArchiveWorker> Archives::start(std::vector<std::string> arguments) {
  if (*at_work_ >= rules_.at_once) {
    return Error{Errc::exhausted,
                 fmt::format("transfers.at_once: {} transfers of trees are under way already",
                             rules_.at_once)};
  }
  ++*at_work_;
  std::shared_ptr<void> place{nullptr, [count = at_work_](void*) { --*count; }};
  return ArchiveWorker::start(executor_, rules_.program, std::move(arguments), std::move(place));
}

Result<ArchiveWorker> Archives::reader() {
  return start({"read", "--entries", std::to_string(rules_.entries), "--bytes",
                std::to_string(rules_.bytes)});
}

Result<ArchiveWorker> Archives::writer(std::string packing) {
  return start({"write", std::move(packing)});
}

}  // namespace cordon::node
