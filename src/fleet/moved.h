// SPDX-License-Identifier: Apache-2.0
// Where sandboxes are that do not live where their names say.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/id.h"
#include "etcd/client.h"
#include "etcd/values.h"
#include "fleet/node_id.h"

namespace cordon::fleet {

// "/cordon/moved/" and the name, in the etcd of all cells; the value is "TO FROM MOVE": the node
// where it is, the one that had it, and the number of the move, 32 hexadecimal digits.
inline constexpr std::string_view kMoved = "/cordon/moved/";

struct Passage {
  NodeId to;
  NodeId from;
  std::string move;
  friend bool operator==(const Passage&, const Passage&) = default;
};
std::string moved_key_of(std::string_view sandbox);
std::string encode(const Passage& passage);
// `invalid`: no gateway writes that.
Result<Passage> decode_passage(std::string_view value);

// Used from the loop's thread only.
class Moved {
 public:
  // Of what nodes have said beside etcd: the oldest is forgotten first.
  static constexpr std::size_t kMostHeard = 4096;

  // Nothing: where its name says, as far as is known here.
  std::optional<NodeId> where(std::string_view sandbox) const;
  // As etcd has it; null: it has nothing.
  const Passage* passage(std::string_view sandbox) const;
  std::size_t size() const noexcept { return passages_.size(); }
  // Of all that etcd has.
  std::vector<std::string> names() const;

  // All that etcd has. Gives what is new in it.
  std::vector<std::string> took(const std::map<std::string, etcd::KeyValue>& values);
  // Before etcd tells it.
  void know(const std::string& sandbox, Passage passage);
  void forget(std::string_view sandbox);
  // The node that had it says where it went: where etcd says nothing that is believed.
  void heard(const std::string& sandbox, NodeId to);

  // As lines of text, for the disk; what cannot be read is left out.
  std::string saved() const;
  void restore(std::string_view text);

 private:
  std::map<std::string, Passage, std::less<>> passages_;
  std::map<std::string, NodeId, std::less<>> heard_;
  std::vector<std::string> heard_order_;
};

// Follows them until it is cancelled or refused. `news`: what is new here; `was_before`: it was
// there before us, and whoever moved it may have died over it.
using MovedNews = std::function<void(const std::string& sandbox, bool was_before)>;
async::Task<void> follow_moved(etcd::Client& client, Moved& moved, MovedNews news);

}  // namespace cordon::fleet
