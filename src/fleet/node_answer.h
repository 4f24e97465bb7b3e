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

class NodeAnswer {
 public:
  // `from` outlives it; the question was sent there, by a method whose answers have bodies.
  explicit NodeAnswer(NodeConnection& from) : from_{from} {}

  async::Task<http::ResponseHead> head();
  // After head(). At least one byte of the body, or nothing: it is whole.
  async::Task<std::string> next();
  // All that is left of it. `exhausted`: it is longer than `most`.
  async::Task<std::string> rest(std::size_t most);

  // After the end of the body: whether another question may follow.
  bool keeps() const noexcept { return keeps_ && held_.empty(); }

 private:
  async::Task<void> fill();

  NodeConnection& from_;
  std::string held_;
  std::optional<http::BodyReader> body_;
  bool keeps_ = false;
};

}  // namespace cordon::fleet
