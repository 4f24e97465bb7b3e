// SPDX-License-Identifier: Apache-2.0
// The supervisor of a sandbox's code contexts, a process inside, and those who wait for its
// answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "api/e2b/interpreter_lines.h"
#include "async/waiting.h"
#include "node/resident.h"

namespace cordon::api::e2b {

// Why a request got no answer.
struct InterpreterRefusal {
  int status = 0;
  std::string text;
};

// A request that is under way.
class Asked {
 public:
  explicit Asked(const asio::any_io_executor& executor) : news_{executor, async::kNever} {}

  // Events that have come, as lines; the last may still go on.
  std::string take_events();
  // Set: it is over.
  const std::optional<std::string>& done() const noexcept { return done_; }
  const std::optional<InterpreterRefusal>& refused() const noexcept { return refused_; }
  bool is_over() const noexcept { return done_.has_value() || refused_.has_value(); }
  // Until one of these changes.
  asio::awaitable<void> news();

 private:
  friend class Interpreter;
  void tell() { news_.cancel(); }

  std::string events_;
  std::string last_;  // of a last line that has not ended
  std::optional<std::string> done_;
  std::optional<InterpreterRefusal> refused_;
  asio::steady_timer news_;  // never fires: cancelled when something has come, or was taken
};

// Used from the loop's thread only.
class Interpreter {
 public:
  // `process` runs supervisor_command() in `resident`.
  Interpreter(const asio::any_io_executor& executor, std::shared_ptr<node::Resident> resident,
              std::shared_ptr<node::ResidentProcess> process);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Hears it until its end, and says what is asked; spawned once each.
  asio::awaitable<void> hear();
  asio::awaitable<void> speak();
  bool is_over() const noexcept { return is_over_; }

  // While it is held its answer is waited for.
  class Question {
   public:
    Question(std::shared_ptr<Interpreter> interpreter, std::string_view act, std::string fields);
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    // Whoever leaves before the end has the code interrupted.
    ~Question();
    Asked& asked() noexcept { return *asked_; }

   private:
    std::shared_ptr<Interpreter> interpreter_;
    std::uint32_t number_;
    std::shared_ptr<Asked> asked_;
  };

 private:
  // False: it has not read what it was told before.
  bool say(std::string_view line);
  void take(const InterpreterLines::Piece& piece);
  // Until who asked has taken enough of what came, or has left.
  asio::awaitable<void> room_for(std::uint32_t number);
  void lose_all();

  asio::any_io_executor executor_;
  std::shared_ptr<node::Resident> resident_;
  std::shared_ptr<node::ResidentProcess> process_;
  InterpreterLines lines_;
  std::map<std::uint32_t, std::shared_ptr<Asked>> asked_;
  std::uint32_t last_number_ = 0;
  std::string to_say_;
  asio::steady_timer something_to_say_;  // never fires: cancelled when there is
  bool is_over_ = false;
};

// What runs it: Python, with the supervisor's text. The second: for a sandbox that begins with it.
sandbox::Command supervisor_command(const plan::Lowered& lowered);
frame::Start supervisor_standby();

}  // namespace cordon::api::e2b
