// SPDX-License-Identifier: Apache-2.0
// cordon-egress as its launcher holds it: started under an id of its own, given the sockets of
// sandboxes, started again when it has died.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "launcher/egress_link.h"
#include "launcher/identity.h"
#include "launcher/secret_readers.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/steering.h"

namespace cordon::launcher {

// What a node gets of an egress that runs.
struct OpenedEgress {
  os::Fd link;
  os::Fd state;  // a hold on its state: see launcher/egress_state.h
};

// One running cordon-egress. Destroying it ends it; nothing gets out of its sandboxes then.
class Egress {
 public:
  // What outlives it, for a successor: its ids, where it is not the caller's, and the file that
  // keeps names, authorities and what was spent.
  struct Estate {
    std::optional<LentRange> range;
    os::Fd state;
  };
  // Takes `estate` with it; where it cannot be started the estate stays where it is.
  static Result<Egress> start(Estate& estate);

  // Hands it a sandbox's sockets and waits until it holds them. One that does not take or answer
  // this in time, or answers something else, is taken for dead.
  Status give(const std::string& id, const os::SteeredSockets& sockets);
  // Waits until it has closed them.
  void take_back(const std::string& id);

  bool is_alive() const noexcept;
  // Of the broker beside it: an id of its own too, where there are such.
  std::optional<std::uint32_t> broker_id() const noexcept {
    return estate_.range ? std::optional{estate_.range->first() + 1} : std::nullopt;
  }
  // The node's end of its link, once, and a hold on its state.
  Result<OpenedEgress> take_node_link();

  Estate end() &&;

 private:
  Egress(Estate estate, os::Child child, EgressLink link, os::Fd node)
      : estate_{std::move(estate)},
        child_{std::move(child)},
        link_{std::move(link)},
        node_{std::move(node)} {}
  // What it has of the sockets goes with it, and its node hears that it is gone.
  void kill();

  Estate estate_;
  os::Child child_;
  EgressLink link_;
  os::Fd node_;
  bool lost_ = false;
};

// By tenant. A sandbox's sockets are here as long as it lives: with them its egress can be
// replaced.
class Egresses {
 public:
  // `secrets`: the directory of the stores; empty: secrets live no longer than their broker.
  Egresses(os::Fd secrets, SecretSources sources)
      : secrets_{std::move(secrets)}, sources_{std::move(sources)} {}

  // Gives the node's link to a running one, which has all that it needs but what the node says.
  // After a failure the next call finds all that outlives an egress as it was. `kept`: what an
  // earlier launcher gave for this tenant, where there was one; used where we have no state of it.
  Result<OpenedEgress> open(const std::string& tenant, RangeLender* ranges, const os::Fd& kept);
  // Gives the owner's link to a new broker; an earlier one has ended.
  Result<os::Fd> open_broker(const std::string& tenant);
  // Starts who reads it for the tenant's broker. `denied`: see start_reader. `unavailable`: no
  // broker was opened.
  Result<os::Child> read_source(const frame::ReadSource& wanted);

  // `unavailable`: the tenant's was not opened, or has died. After a failure nothing is held.
  Status add(const std::string& tenant, const std::string& id, os::SteeredSockets sockets);
  // Of one that an earlier launcher has launched: held also while no egress runs for it.
  void adopt(const std::string& tenant, const std::string& id, os::SteeredSockets sockets);
  void remove(const std::string& id);
  struct Held {
    std::string tenant;
    os::SteeredSockets sockets;
  };
  // nullptr: it has no network.
  const Held* find(const std::string& id) const;
  std::size_t held() const noexcept { return held_.size(); }

 private:
  Result<Egress::Estate*> estate_of(const std::string& tenant, RangeLender* ranges,
                                    const os::Fd& kept);

  struct Broker {
    os::Child child;
    os::Fd sources;  // what readers of sources tell it; empty where the floor names none
  };
  os::Fd secrets_;
  SecretSources sources_;
  // In this order: sockets go after those who answer on them.
  std::map<std::string, Held> held_;               // by sandbox
  std::map<std::string, Egress::Estate> estates_;  // of tenants whose egress does not run
  std::map<std::string, std::unique_ptr<Egress>> running_;
  std::map<std::string, Broker> brokers_;
};

// The sockets of one sandbox, held until this goes.
class HeldNetwork {
 public:
  // Before: `id` was added to `egresses`, which outlives this.
  HeldNetwork(Egresses& egresses, std::string id) : egresses_{&egresses}, id_{std::move(id)} {}
  HeldNetwork(HeldNetwork&& other) noexcept
      : egresses_{std::exchange(other.egresses_, nullptr)}, id_{std::move(other.id_)} {}
  HeldNetwork& operator=(HeldNetwork&&) = delete;
  ~HeldNetwork() {
    if (egresses_ != nullptr) egresses_->remove(id_);
  }

 private:
  Egresses* egresses_;
  std::string id_;
};

}  // namespace cordon::launcher
