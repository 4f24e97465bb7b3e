// SPDX-License-Identifier: Apache-2.0
// A call that goes both ways: one read and one write at a time are in the queue, and then its end.
#include <deque>
#include <grpcpp/generic/generic_stub.h>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/waiting.h"
#include "etcd/channels.h"
#include "etcd/queue.h"
#include "etcd/status.h"
#include "etcd/transport.h"

namespace cordon::etcd {

// The loop's side.
struct Stream::Inbox {
  explicit Inbox(const asio::any_io_executor& executor) : arrived{executor, async::kNever} {}
  asio::steady_timer arrived;  // never fires: cancelled when one of the others is set
  std::optional<std::string> message;
  std::optional<Error> end;
};

class Stream::Call final : public QueuedCall {
 public:
  Call(asio::any_io_executor executor, std::shared_ptr<Inbox> inbox)
      : executor_{std::move(executor)}, inbox_{std::move(inbox)} {}

  void start(grpc::GenericStub& stub, const char* method, grpc::CompletionQueue& queue) {
    stream_ = stub.PrepareCall(&context, method, &queue);
    stream_->StartCall(begin(kStarted));
  }

  void write(const std::string& message) {
    if (is_ending_) return;
    unsent_.push_back(to_buffer(message));
    send();
  }

  void read_next() {
    wanted_ = true;
    receive();
  }

  // Where a message waits to be read nothing is in the queue, which would then say nothing.
  void cancel() override {
    context.TryCancel();
    is_ending_ = true;
    if (under_way_ == 0) finish();
  }

  bool done(int step, bool ok) override {
    under_way_ &= ~(1U << static_cast<unsigned>(step));
    if (step == kFinished) {
      finished_ = true;
    } else if (!ok) {
      // Whatever failed, the reason is in the status.
      is_ending_ = true;
    } else if (step == kStarted) {
      has_started_ = true;
    } else if (step == kWritten) {
      unsent_.pop_front();
    } else {
      deliver(to_string(received_));
    }
    if (finished_ && under_way_ == 0) {
      end();
      return true;
    }
    if (is_ending_ && !finished_) {
      finish();
    } else if (!is_ending_) {
      send();
      receive();
    }
    return false;
  }

 private:
  enum Step : std::uint8_t { kStarted, kRead, kWritten, kFinished, kSteps };

  bool is_under_way(Step step) const {
    return (under_way_ & 1U << static_cast<unsigned>(step)) != 0;
  }
  Tag* begin(Step step) {
    under_way_ |= 1U << static_cast<unsigned>(step);
    return &tags_[step];
  }

  void send() {
    if (!has_started_ || unsent_.empty() || is_under_way(kWritten)) return;
    stream_->Write(unsent_.front(), begin(kWritten));
  }

  void receive() {
    if (!has_started_ || is_ending_ || !wanted_ || is_under_way(kRead)) return;
    wanted_ = false;
    stream_->Read(&received_, begin(kRead));
  }

  void finish() {
    if (is_under_way(kFinished)) return;
    stream_->Finish(&status_, begin(kFinished));
  }

  void deliver(std::string message) {
    asio::post(executor_, [inbox = inbox_, message = std::move(message)]() mutable {
      inbox->message.emplace(std::move(message));
      inbox->arrived.cancel();
    });
  }

  void end() {
    Error why = status_.ok() ? Error{Errc::unavailable, "etcd: the member ended the stream"}
                             : error_of(status_.error_code(), status_.error_message());
    // Moved: what belongs to the loop is never let go of here.
    asio::post(executor_, [inbox = std::move(inbox_), why = std::move(why)]() mutable {
      inbox->end.emplace(std::move(why));
      inbox->arrived.cancel();
    });
  }

  asio::any_io_executor executor_;
  std::shared_ptr<Inbox> inbox_;
  Tag tags_[kSteps] = {{this, kStarted}, {this, kRead}, {this, kWritten}, {this, kFinished}};
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer received_;
  grpc::Status status_;
  std::deque<grpc::ByteBuffer> unsent_;  // the first is being written, where one is
  unsigned under_way_ = 0;               // a bit for each step
  bool has_started_ = false;
  bool wanted_ = true;
  bool is_ending_ = false;
  bool finished_ = false;
};

Stream::Stream(std::shared_ptr<Queue> queue, std::shared_ptr<Inbox> inbox)
    : queue_{std::move(queue)}, inbox_{std::move(inbox)} {}

Stream::~Stream() { queue_->cancel(call_); }

void Stream::write(std::string message) {
  queue_->with<Call>(call_, [&](Call& call) { call.write(message); });
}

async::Task<std::string> Stream::read() {
  for (;;) {
    if (auto message = std::exchange(inbox_->message, std::nullopt)) {
      queue_->with<Call>(call_, [](Call& call) { call.read_next(); });
      co_return *std::move(message);
    }
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): not across a coroutine's frame
    if (inbox_->end) co_return *inbox_->end;
    co_await inbox_->arrived.async_wait(async::kQuiet);
  }
}

std::unique_ptr<Stream> Transport::open(std::size_t member, const char* method) {
  const auto inbox = std::make_shared<Stream::Inbox>(executor_);
  auto call = std::make_unique<Stream::Call>(executor_, inbox);
  Stream::Call& made = *call;
  std::unique_ptr<Stream> stream{new Stream{queue_, inbox}};
  stream->call_ = queue_->add(std::move(call), [&](grpc::CompletionQueue& queue) {
    made.start(*channels_->stubs[member], method, queue);
  });
  return stream;
}

}  // namespace cordon::etcd
