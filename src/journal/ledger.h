// SPDX-License-Identifier: Apache-2.0
// What a node must know after its own death: its sandboxes, which creates it has answered, which
// tokens are revoked, which keys there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "journal/sqlite.h"

namespace cordon::journal {

enum class Life : std::uint8_t {
  making,  // written before anything is launched: found at a start, it is half-made
  living,
  ended,  // the verdict is known, and kept until it is forgotten
};

struct SandboxRow {
  std::string id;
  std::string tenant;
  Life life = Life::making;
  WallTime created{};
  WallTime expires{};
  std::string labels;   // JSON, as are
  std::string policy;   // the checked documents, and
  std::string verdict;  // what ended it; empty before

  friend bool operator==(const SandboxRow&, const SandboxRow&) = default;
};

using Digest = std::array<std::byte, 32>;
using RevocationId = std::array<std::byte, 16>;

// What a caller may send again without making a second sandbox.
struct CreateKey {
  std::string tenant;
  std::string key;
  Digest request{};  // of what was asked for
};

struct Claim {
  std::string sandbox;  // empty: none was made, and none is for a while
  Digest request{};
  WallTime made{};
};

struct Revocation {
  RevocationId id{};
  WallTime until{};      // no token that it concerns lives longer
  std::string tenant{};  // in whose account it counts; empty: the node's own

  friend bool operator==(const Revocation&, const Revocation&) = default;
};

// A long-lived key, by what leads to no key.
struct KeyRow {
  std::string id;  // its name, for people
  Digest digest{};
  std::string tenant;  // empty: an operator's
  std::string label;
  WallTime created{};
  std::vector<std::byte> authority;  // what it may do; no secret

  friend bool operator==(const KeyRow&, const KeyRow&) = default;
};

// A release of the fleet's policy that the node has taken.
struct ReleaseRow {
  std::uint64_t number = 0;
  std::string text;
  Digest mac{};  // of both, under the node's own key

  friend bool operator==(const ReleaseRow&, const ReleaseRow&) = default;
};

// Each call is one change, whole or not at all; several are one within begin() and commit(). Used
// by one thread at a time.
class Ledger {
 public:
  // Makes the tables where there are none, and brings those of an earlier version up to date.
  // `invalid`: damaged, or of a later version.
  static Result<Ledger> open(const std::string& path);

  // `exists`: the id, or the key, is there already; nothing was changed.
  Status add(const SandboxRow& row, const std::optional<CreateKey>& key, WallTime now);
  // `not_found`: there is no such sandbox.
  Status set_living(std::string_view id);
  Status change(std::string_view id, WallTime expires, std::string_view labels,
                std::string_view policy);
  Status set_ended(std::string_view id, std::string_view verdict);
  // With the key that it was made for. Also of one that is not there.
  Status forget(std::string_view id);
  Result<std::vector<SandboxRow>> sandboxes();
  // Those that have not ended.
  Result<std::vector<SandboxRow>> unended();
  // One that has; nothing: there is no such row.
  Result<std::optional<SandboxRow>> ended(std::string_view id);

  Result<std::optional<Claim>> claimed(std::string_view tenant, std::string_view key);
  // Nothing was made for it, and nothing is until `kRefused` has passed: whoever asks elsewhere
  // with the same key may ask here again, and must not get a second one.
  static constexpr std::chrono::minutes kRefused{5};
  Status refuse(const CreateKey& key, WallTime now);

  // The later end holds.
  Status revoke(const Revocation& revocation);
  Result<std::vector<Revocation>> revocations();

  // `exists`: its id or its digest is there already.
  Status add_key(const KeyRow& row);
  // Also of one that is not there.
  Status remove_key(std::string_view id);
  Result<std::vector<KeyRow>> keys();

  // One more; gives how many there were, this one included.
  Result<std::uint32_t> count_start();

  // Whether an operator has it take nothing new.
  Result<bool> is_draining();
  Status set_draining(bool is_draining);

  // The one that was taken last; nothing: none, or it was dropped.
  Result<std::optional<ReleaseRow>> release();
  Status keep_release(const ReleaseRow& row);
  Status drop_release();

  // Of those that have ended: the oldest go at the next sweep.
  static constexpr std::int64_t kMostEnded = 20'000;

  // Removes claims older than `kept`, sandboxes that have ended and whose time was over that long
  // ago, or that are too many, and revocations that have become useless.
  Status sweep(WallTime now, std::chrono::milliseconds kept);
  Status sweep_revocations(WallTime now);

  // `durable`: on the disk when commit() returns, also after a power cut. Else in the kernel: it
  // survives the death of any process.
  Status begin(bool durable);
  Status commit();
  void roll_back();

 private:
  explicit Ledger(Database database) : database_{std::move(database)} {}
  Status prepare();
  Status one_row(Statement& statement, std::string_view id);
  static Result<std::vector<SandboxRow>> rows_of(Statement& statement);

  Database database_;
  enum Which : std::uint8_t {
    kAdd,
    kClaim,
    kLive,
    kChange,
    kEnd,
    kForget,
    kForgetClaim,
    kAll,
    kUnended,
    kEnded,
    kClaimed,
    kRefuse,
    kRevoke,
    kRevoked,
    kSweepClaims,
    kSweepRevoked,
    kSweepEnded,
    kSweepMany,
    kAddKey,
    kRemoveKey,
    kKeys,
    kStart,
    kDraining,
    kSetDraining,
    kRelease,
    kKeepRelease,
    kDropRelease,
    kCount
  };
  std::vector<Statement> statements_;
  bool durable_ = true;
};

}  // namespace cordon::journal
