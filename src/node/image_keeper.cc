// SPDX-License-Identifier: Apache-2.0
#include "node/image_keeper.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/borrowed_fd.h"
#include "async/waiting.h"
#include "os/socket.h"

namespace cordon::node {

// Whoever has it may ask; the next one is told when it goes.
class ImageKeeper::Turn {
 public:
  explicit Turn(ImageKeeper& keeper) : keeper_{keeper} { keeper_.is_asked_ = true; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    keeper_.is_asked_ = false;
    keeper_.freed_.cancel();
  }

 private:
  ImageKeeper& keeper_;
};

ImageKeeper::ImageKeeper(const asio::any_io_executor& executor, Open open)
    : executor_{executor}, open_{std::move(open)}, freed_{executor, async::kNever} {}

async::Task<frame::ImageKept> ImageKeeper::ask(frame::ToKeeper wanted, os::Fd archive) {
  while (is_asked_) co_await freed_.async_wait(async::kQuiet);
  const Turn turn{*this};
  co_return co_await ask_now(wanted, archive);
}

async::Task<frame::ImageKept> ImageKeeper::ask_now(const frame::ToKeeper& wanted,
                                                   const os::Fd& archive) {
  CO_TRY(os::Fd opened, co_await open_());
  asio::posix::stream_descriptor link{executor_, opened.release()};
  const async::BorrowedFd socket{link};
  const os::Fd* const beside = &archive;
  const std::span<const os::Fd* const> fds{&beside, archive ? 1U : 0U};
  CO_TRY_DO(os::send(*socket, frame::encode(wanted), fds));
  const auto [error] =
      co_await link.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
  if (error) co_return Error{Errc::unavailable, "cordon-keeper: " + error.message()};
  std::vector<std::byte> room(frame::kLongestKeeperMessage);
  CO_TRY(const os::Received got, os::receive(*socket, room));
  if (got.bytes == 0) co_return Error{Errc::unavailable, "cordon-keeper has ended"};
  CO_TRY(const frame::FromKeeper said, frame::decode_from_keeper(std::span{room}.first(got.bytes)));
  if (const auto* refused = std::get_if<frame::NotKept>(&said)) {
    co_return Error{Errc::invalid, refused->text};
  }
  co_return std::get<frame::ImageKept>(said);
}

}  // namespace cordon::node
