// SPDX-License-Identifier: Apache-2.0
// What a node answers to a question of the gateway's own, as it comes.
#pragma once

#include <optional>
#include <string>

#include "async/task.h"
#include "fleet/node_link.h"
#include "http/body.h"
#include "http/head.h"

namespace cordon::fleet {

// One request of our own, whole.
struct OwnQuestion {
  std::string method = "GET";
  std::string path;
  http::Fields fields{};  // with the right to ask
  std::string body{};
  std::size_t most = std::size_t{64} << 10U;  // of the answer's body
};
// As it is sent to `host`.
Result<std::string> to_bytes(OwnQuestion question, std::string host);

class NodeAnswer {
 public:
  // `from` outlives it; the question was sent there, by a method whose answers have bodies.
  explicit NodeAnswer(NodeConnection& from) : from_{from} {}

  async::Task<http::ResponseHead> head();
  // After head(). At least one byte of the body, or nothing: it is whole.
  async::Task<std::string> next();
  // All that is left of it. `exhausted`: it is longer than `most`.
  async::Task<std::string> rest(std::size_t most);

  // The next line of it, without its end; empty: there is none, or an empty one. `exhausted`: it is
  // longer than `most`.
  async::Task<std::string> line(std::size_t most);

  // After the end of the body: whether another question may follow.
  bool keeps() const noexcept { return keeps_ && held_.empty(); }

 private:
  async::Task<void> fill();

  NodeConnection& from_;
  std::string held_;
  std::string lines_;       // of the body, behind the last line that was taken
  std::size_t looked_ = 0;  // so much of that has no end of a line
  std::optional<http::BodyReader> body_;
  bool keeps_ = false;
};

}  // namespace cordon::fleet
