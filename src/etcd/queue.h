// SPDX-License-Identifier: Apache-2.0
// gRPC's completion queue, the thread that drains it, and the calls that are in it. For
// transport.cc and stream.cc alone: it includes gRPC.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/byte_buffer.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cordon::etcd {

inline grpc::ByteBuffer to_buffer(const std::string& bytes) {
  const grpc::Slice slice{bytes};
  return grpc::ByteBuffer{&slice, 1};
}

inline std::string to_string(const grpc::ByteBuffer& buffer) {
  std::string bytes;
  bytes.reserve(buffer.Length());
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// One call. Its members are touched under the queue's lock only.
class QueuedCall {
 public:
  // What the queue hands back: the call and which of its steps is done.
  struct Tag {
    QueuedCall* call;
    int step;
  };

  QueuedCall() {
    // A member that knows no leader refuses at once, and has then done nothing.
    context.AddMetadata("hasleader", "true");
  }
  QueuedCall(const QueuedCall&) = delete;
  QueuedCall& operator=(const QueuedCall&) = delete;
  virtual ~QueuedCall() = default;

  // Asks it to end: done() follows, until it returns true.
  virtual void cancel() { context.TryCancel(); }
  // By the queue's thread. True: nothing of it is in the queue any more. It goes.
  virtual bool done(int step, bool ok) = 0;

  grpc::ClientContext context;
  std::size_t number = 0;  // the queue's
};

class Queue {
 public:
  using Number = std::size_t;

  Queue() : thread_{[this] { drain(); }} {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    {
      std::unique_lock held{lock_};
      for (const auto& [number, call] : calls_) call->cancel();
      // A queue that is shut down takes no further step, and a stream's end is one.
      empty_.wait(held, [this] { return calls_.empty(); });
    }
    completions_.Shutdown();
    thread_.join();
  }

  // Owns `call` until it is done, and calls `start(completions)` with it in its place.
  template <class Start>
  Number add(std::unique_ptr<QueuedCall> call, Start start) {
    const std::lock_guard held{lock_};
    const Number number = ++last_;
    call->number = number;
    calls_.emplace(number, std::move(call));
    start(completions_);
    return number;
  }

  // Calls `act(call)` where the call is still under way.
  template <class Call, class Act>
  void with(Number number, Act act) {
    const std::lock_guard held{lock_};
    const auto found = calls_.find(number);
    if (found != calls_.end()) act(static_cast<Call&>(*found->second));
  }

  void cancel(Number number) {
    with<QueuedCall>(number, [](QueuedCall& call) { call.cancel(); });
  }

 private:
  void drain() {
    void* tag = nullptr;
    bool ok = false;
    while (completions_.Next(&tag, &ok)) {
      std::unique_ptr<QueuedCall> over;  // destroyed without the lock: gRPC does much there
      const std::unique_lock held{lock_};
      const auto [call, step] = *static_cast<QueuedCall::Tag*>(tag);
      if (call->done(step, ok)) over = take(call);
    }
  }

  std::unique_ptr<QueuedCall> take(const QueuedCall* call) {
    const auto found = calls_.find(call->number);
    std::unique_ptr<QueuedCall> taken = std::move(found->second);
    calls_.erase(found);
    if (calls_.empty()) empty_.notify_all();
    return taken;
  }

  std::mutex lock_;
  std::condition_variable empty_;
  Number last_ = 0;
  std::unordered_map<Number, std::unique_ptr<QueuedCall>> calls_;
  grpc::CompletionQueue completions_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cordon::etcd
