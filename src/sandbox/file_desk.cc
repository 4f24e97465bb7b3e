// SPDX-License-Identifier: Apache-2.0
#include "sandbox/file_desk.h"

#include <utility>

#include "async/waiting.h"

namespace cordon::sandbox {

FileDesk::Question::Question(const asio::any_io_executor& executor)
    : news{executor, asio::steady_timer::time_point::max()} {}

// In the queue for as long as it lives: also a caller that gives up leaves it.
class FileDesk::Queued {
 public:
  Queued(FileDesk& desk, Question& question) : desk_{desk}, question_{question} {
    desk_.waiting_.push_back(&question_);
  }
  Queued(const Queued&) = delete;
  Queued& operator=(const Queued&) = delete;
  ~Queued() {
    std::erase(desk_.waiting_, &question_);
    if (!desk_.waiting_.empty()) desk_.waiting_.front()->news.cancel();
  }

  bool has_turn() const noexcept {
    return desk_.waiting_.front() == &question_ && desk_.asked_.size() < frame::kMostFileActs;
  }

 private:
  FileDesk& desk_;
  Question& question_;
};

FileDesk::FileDesk(asio::any_io_executor executor, Outbox& outbox)
    : executor_{std::move(executor)}, outbox_{outbox} {}

template <class Wanted>
async::Task<frame::FileReply> FileDesk::ask_in_turn(Wanted wanted) {
  if (waiting_.size() >= kMostWaiting) {
    co_return Error{Errc::exhausted, "too many file requests of this sandbox wait"};
  }
  const auto question = std::make_shared<Question>(executor_);
  {
    const Queued queued{*this, *question};
    while (!queued.has_turn() && !outbox_.ended())
      co_await question->news.async_wait(async::kQuiet);
    co_await outbox_.room();
    if (outbox_.ended()) co_return outbox_.why();
    while (asked_.contains(next_)) ++next_;
    wanted.request = next_++;
    asked_.emplace(wanted.request, question);
    outbox_.send(wanted);
  }
  while (true) {
    if (auto& reply = question->reply; reply) co_return *std::move(reply);
    if (outbox_.ended()) co_return outbox_.why();
    co_await question->news.async_wait(async::kQuiet);
  }
}

async::Task<frame::FileReply> FileDesk::ask(frame::FileRequest request) {
  if (request.bytes.size() > frame::kMostFileBytes) {
    co_return Error{Errc::invalid, "more bytes than one file request takes"};
  }
  co_return co_await ask_in_turn(std::move(request));
}

async::Task<frame::FileReply> FileDesk::ask(frame::WriteTree tree) {
  if (tree.bytes.size() > frame::kMostTreeBytes || tree.pieces.size() > frame::kMostTreePieces) {
    co_return Error{Errc::invalid, "more of a tree than one request takes"};
  }
  co_return co_await ask_in_turn(std::move(tree));
}

async::Task<frame::FileReply> FileDesk::ask(frame::ReadTree tree) {
  return ask_in_turn(std::move(tree));
}

Status FileDesk::take(frame::FileReply reply) {
  const auto found = asked_.find(reply.request);
  if (found == asked_.end()) return protocol_error("an answer to no question");
  found->second->reply = std::move(reply);
  found->second->news.cancel();
  asked_.erase(found);
  if (!waiting_.empty()) waiting_.front()->news.cancel();
  return {};
}

void FileDesk::end() {
  for (Question* waiting : waiting_) waiting->news.cancel();
  for (const auto& [request, question] : asked_) question->news.cancel();
}

}  // namespace cordon::sandbox
