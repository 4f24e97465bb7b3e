// SPDX-License-Identifier: Apache-2.0
#include "etcd/transport.h"

#include <charconv>
#include <cstdlib>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <mutex>
#include <string_view>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/waiting.h"
#include "base/log.h"
#include "etcd/channels.h"
#include "etcd/queue.h"
#include "etcd/status.h"

namespace cordon::etcd {
namespace {

constexpr int kLargestMessage = 16 << 20;  // etcd's own largest is a tenth of it

void tell(gpr_log_func_args* args) {
  log(LogLevel::warning, "etcd", "gRPC",
      {{"says", std::string_view{args->message}}, {"file", std::string_view{args->file}}});
}

void prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Its fork handlers stop its threads in a process that only ever execs.
    ::setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 1);
    ::gpr_set_log_function(tell);
    ::gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  });
}

grpc::ChannelArguments arguments() {
  grpc::ChannelArguments all;
  // Else a second client in this process would share connections, and with them the identity.
  all.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Neither the environment nor the DNS has a say in where it connects.
  all.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  all.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // A write is repeated by those who know whether it may be, not below them.
  all.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A member that returns is found again within a second, not within two minutes.
  all.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  all.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  all.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // etcd hangs up on who pings more often than every 5 s.
  all.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  all.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3'000);
  all.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  all.SetMaxReceiveMessageSize(kLargestMessage);
  return all;
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const std::optional<Identity>& identity) {
  if (!identity) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = identity->authority,
                               .pem_private_key = identity->key,
                               .pem_cert_chain = identity->certificate});
}

bool is_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(port.begin(), port.end(), number);
  return failure == std::errc{} && end == port.end() && number > 0 && number < 65536 &&
         text.find_first_of("/ ,") == std::string_view::npos;
}

gpr_timespec after(std::chrono::milliseconds limit) {
  return ::gpr_time_add(::gpr_now(GPR_CLOCK_MONOTONIC),
                        ::gpr_time_from_millis(limit.count(), GPR_TIMESPAN));
}

// The loop's side of a call.
struct Waiting {
  explicit Waiting(const asio::any_io_executor& executor) : answered{executor, async::kNever} {}
  asio::steady_timer answered;  // never fires: cancelled when there is an outcome
  std::optional<Result<std::string>> outcome;
};

class UnaryCall final : public QueuedCall {
 public:
  UnaryCall(asio::any_io_executor executor, std::shared_ptr<Waiting> waiting)
      : executor_{std::move(executor)}, waiting_{std::move(waiting)} {}

  void start(grpc::GenericStub& stub, const char* method, const grpc::ByteBuffer& request,
             grpc::CompletionQueue& queue) {
    reader_ = stub.PrepareUnaryCall(&context, method, request, &queue);
    reader_->StartCall();
    reader_->Finish(&answer_, &status_, &tag_);
  }

  bool done(int /*step*/, bool /*ok*/) override {
    Result<std::string> outcome = status_.ok()
                                      ? Result<std::string>{to_string(answer_)}
                                      : error_of(status_.error_code(), status_.error_message());
    // Moved: what belongs to the loop is never let go of here.
    asio::post(executor_, [waiting = std::move(waiting_), outcome = std::move(outcome)]() mutable {
      waiting->outcome.emplace(std::move(outcome));
      waiting->answered.cancel();
    });
    return true;
  }

 private:
  asio::any_io_executor executor_;
  std::shared_ptr<Waiting> waiting_;
  Tag tag_{.call = this, .step = 0};
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
};

// Cancels a call that its waiter has left.
class Leaving {
 public:
  Leaving(std::shared_ptr<Queue> queue, Queue::Number call)
      : queue_{std::move(queue)}, call_{call} {}
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() { queue_->cancel(call_); }  // of a call that is over: nothing

 private:
  std::shared_ptr<Queue> queue_;
  Queue::Number call_;
};

}  // namespace

Result<std::unique_ptr<Transport>> Transport::create(const asio::any_io_executor& executor,
                                                     const Cluster& cluster) {
  if (cluster.members.empty()) return Error{Errc::invalid, "etcd: no member is named"};
  for (const std::string& member : cluster.members) {
    if (!is_endpoint(member)) {
      return Error{Errc::invalid, "etcd: " + member + " is no ADDRESS:PORT"};
    }
  }
  prepare_process();
  auto channels = std::make_unique<Channels>();
  const auto shown = credentials(cluster.identity);
  for (const std::string& member : cluster.members) {
    channels->stubs.push_back(std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel("dns:" + member, shown, arguments())));
  }
  return std::unique_ptr<Transport>{new Transport{executor, std::move(channels)}};
}

Transport::Transport(asio::any_io_executor executor, std::unique_ptr<Channels> channels)
    : executor_{std::move(executor)},
      channels_{std::move(channels)},
      queue_{std::make_shared<Queue>()} {}

Transport::~Transport() = default;

std::size_t Transport::members() const noexcept { return channels_->stubs.size(); }

async::Task<std::string> Transport::call(std::size_t member, const char* method,
                                         std::string request, std::chrono::milliseconds limit) {
  const auto waiting = std::make_shared<Waiting>(executor_);
  auto call = std::make_unique<UnaryCall>(executor_, waiting);
  UnaryCall& made = *call;
  made.context.set_deadline(after(limit));
  const grpc::ByteBuffer bytes = to_buffer(request);
  const auto start = [&](grpc::CompletionQueue& queue) {
    made.start(*channels_->stubs[member], method, bytes, queue);
  };
  const Leaving leaving{queue_, queue_->add(std::move(call), start)};
  // A cancelled caller is thrown out of here.
  while (!waiting->outcome) co_await waiting->answered.async_wait(async::kQuiet);
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the loop has ended
  co_return *std::move(waiting->outcome);
}

}  // namespace cordon::etcd
