// SPDX-License-Identifier: Apache-2.0
// Bytes to the members of a cluster and back, over gRPC: the one border to that library. Its
// headers are met in transport.cc, stream.cc and queue.h, and nowhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"

namespace cordon::etcd {

// PEM. The common name of the certificate is the user whose rights etcd applies.
struct Identity {
  std::string authority;  // whom members must be certified by
  std::string certificate;
  std::string key;
};

struct Cluster {
  std::vector<std::string> members;  // ADDRESS:PORT, [ADDRESS]:PORT or NAME:PORT of each
  std::optional<Identity> identity;  // without: neither TLS nor rights
};

class Queue;

// A call that goes both ways. Used from the loop's thread, by one reader. Its end cancels it.
class Stream {
 public:
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // Queued: what has not left when the stream ends is lost.
  void write(std::string message);
  // The next message, or how the stream ended. The one after it is not taken off the wire before
  // this is called again.
  async::Task<std::string> read();

 private:
  friend class Transport;
  struct Inbox;
  class Call;
  Stream(std::shared_ptr<Queue> queue, std::shared_ptr<Inbox> inbox);
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Inbox> inbox_;
  std::size_t call_ = 0;
};

// gRPC has threads of its own. One of ours takes what it has done and posts it to `executor`; all
// else here happens on the loop's thread.
//
// gRPC does not survive fork() without exec: a process that forks does so before it makes one.
class Transport {
 public:
  // Connects when it is first asked to. The loop of `executor` outlives it, and so do no streams.
  // The first one of a process is made before other threads read the environment.
  static Result<std::unique_ptr<Transport>> create(const asio::any_io_executor& executor,
                                                   const Cluster& cluster);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  // Cancels what is under way and waits for gRPC to let go of it.
  ~Transport();

  std::size_t members() const noexcept;

  // Before, of both: `member` < members(); `method` lives on, as "/package.Service/Method".
  // An error is one of error_of(). Whoever is cancelled meanwhile leaves at once, and the call is
  // cancelled behind it.
  async::Task<std::string> call(std::size_t member, const char* method, std::string request,
                                std::chrono::milliseconds limit);
  std::unique_ptr<Stream> open(std::size_t member, const char* method);

 private:
  struct Channels;
  Transport(asio::any_io_executor executor, std::unique_ptr<Channels> channels);
  asio::any_io_executor executor_;
  std::unique_ptr<Channels> channels_;
  std::shared_ptr<Queue> queue_;
};

}  // namespace cordon::etcd
