// SPDX-License-Identifier: Apache-2.0
#include "node/image_stream.h"

#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "async/scope.h"
#include "async/waiting.h"
#include "node/inner_command.h"
#include "os/file.h"

namespace cordon::node {
namespace {

constexpr std::size_t kLongestWords = 1024;

class Export final : public OutputEar {
 public:
  Export(const asio::any_io_executor& executor, ImageKeeper& keeper, frame::KeepImage wanted,
         os::Pipe pipe)
      : keeper_{keeper},
        wanted_{std::move(wanted)},
        read_{std::move(pipe.read)},
        write_{executor, pipe.write.release()} {}

  async::Task<void> hear(frame::Stream stream, std::string bytes) override {
    if (stream == frame::Stream::err) {
      if (words_.size() < kLongestWords) words_ += bytes.substr(0, kLongestWords);
      co_return Status{};
    }
    const auto [error, count] =
        co_await asio::async_write(write_, asio::buffer(bytes), async::kQuiet);
    if (error) co_return Error{Errc::unavailable, "the image is taken no more"};
    co_return Status{};
  }

  async::Task<frame::ImageKept> run(std::shared_ptr<Resident> inside, sandbox::Command exporting,
                                    std::chrono::milliseconds limit) {
    struct Source {
      std::shared_ptr<Resident> inside;
      sandbox::Command exporting;
      std::chrono::milliseconds limit;
    };
    Source source{std::move(inside), std::move(exporting), limit};
    const auto written = co_await async::in_scope(
        [](async::Scope& scope, Export* self, Source* from) -> async::Task<int> {
          scope.spawn(self->ask());
          auto code =
              co_await run_inside(from->inside, std::move(from->exporting), *self, from->limit);
          // An archive that breaks off is refused.
          if (!code || *code != 0) scope.cancel();
          self->write_.close();
          co_return code;
        },
        this, &source);
    // Why nobody takes it any more says more than that.
    if (kept_ && !*kept_) co_return kept_->error();
    CO_TRY(const int code, written);
    if (code != 0) {
      co_return Error{Errc::denied, fmt::format("tar, by which the image is made, ended with {}: "
                                                "{}",
                                                code, words_)};
    }
    if (!kept_) co_return Error{Errc::unavailable, "cordon-keeper has not answered"};
    co_return **std::move(kept_);
  }

 private:
  asio::awaitable<void> ask() { kept_ = co_await keeper_.ask(wanted_, std::move(read_)); }

  ImageKeeper& keeper_;
  frame::KeepImage wanted_;
  os::Fd read_;
  asio::posix::stream_descriptor write_;
  std::string words_;
  std::optional<Result<frame::ImageKept>> kept_;
};

}  // namespace

async::Task<frame::ImageKept> keep_root(std::shared_ptr<Resident> inside,
                                        sandbox::Command exporting, ImageKeeper& keeper,
                                        frame::KeepImage wanted, std::chrono::milliseconds limit) {
  CO_TRY(os::Pipe pipe, os::pipe2());
  Export out{co_await asio::this_coro::executor, keeper, std::move(wanted), std::move(pipe)};
  co_return co_await out.run(std::move(inside), std::move(exporting), limit);
}

}  // namespace cordon::node
