// SPDX-License-Identifier: Apache-2.0
#include "journal/ledger.h"

#include <algorithm>

namespace cordon::journal {
namespace {

// From each version to the next, in one step that happens wholly or not at all.
constexpr const char* kSteps[] = {
    // 1: sandboxes, claims, revocations.
    "BEGIN IMMEDIATE;"
    "CREATE TABLE sandboxes("
    "  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, life INTEGER NOT NULL, created INTEGER NOT NULL,"
    "  expires INTEGER NOT NULL, labels TEXT NOT NULL, policy TEXT NOT NULL, verdict TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE claims("
    "  tenant TEXT NOT NULL, key TEXT NOT NULL, request BLOB NOT NULL, sandbox TEXT NOT NULL,"
    "  made INTEGER NOT NULL, PRIMARY KEY (tenant, key)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE revocations(id BLOB PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "PRAGMA user_version = 1;"
    "COMMIT",
    // 2: revocations count in the account of a tenant.
    "BEGIN IMMEDIATE;"
    "ALTER TABLE revocations ADD COLUMN tenant TEXT NOT NULL DEFAULT '';"
    "PRAGMA user_version = 2;"
    "COMMIT",
    // 3: API keys.
    "BEGIN IMMEDIATE;"
    "CREATE TABLE keys("
    "  id TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    "  label TEXT NOT NULL, created INTEGER NOT NULL, authority BLOB NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "PRAGMA user_version = 3;"
    "COMMIT",
    // 4: starts of the node.
    "BEGIN IMMEDIATE;"
    "CREATE TABLE starts(count INTEGER NOT NULL) STRICT;"
    "INSERT INTO starts VALUES (0);"
    "PRAGMA user_version = 4;"
    "COMMIT",
    // 5: whether the node takes nothing new.
    "BEGIN IMMEDIATE;"
    "ALTER TABLE starts ADD COLUMN draining INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version = 5;"
    "COMMIT",
    // 6: the release of the fleet's policy that the node has taken.
    "BEGIN IMMEDIATE;"
    "CREATE TABLE release("
    "  one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, text TEXT NOT NULL,"
    "  mac BLOB NOT NULL"
    ") STRICT;"
    "PRAGMA user_version = 6;"
    "COMMIT",
};
constexpr auto kVersion = static_cast<std::int64_t>(std::size(kSteps));

constexpr std::string_view kStatements[] = {
    "INSERT INTO sandboxes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    R"(INSERT INTO claims VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (tenant, key) DO UPDATE SET request = excluded.request,
         sandbox = excluded.sandbox, made = excluded.made WHERE sandbox = '')",
    "UPDATE sandboxes SET life = 1 WHERE id = ?",
    "UPDATE sandboxes SET expires = ?, labels = ?, policy = ? WHERE id = ?",
    "UPDATE sandboxes SET life = 2, verdict = ? WHERE id = ?",
    "DELETE FROM sandboxes WHERE id = ?",
    "DELETE FROM claims WHERE sandbox = ?",
    "SELECT id, tenant, life, created, expires, labels, policy, verdict FROM sandboxes ORDER BY id",
    R"(SELECT id, tenant, life, created, expires, labels, policy, verdict FROM sandboxes
       WHERE life != 2 ORDER BY id)",
    R"(SELECT id, tenant, life, created, expires, labels, policy, verdict FROM sandboxes
       WHERE id = ? AND life = 2)",
    "SELECT sandbox, request, made FROM claims WHERE tenant = ? AND key = ?",
    R"(INSERT INTO claims VALUES (?, ?, ?, '', ?)
       ON CONFLICT (tenant, key) DO UPDATE SET made = excluded.made WHERE sandbox = '')",
    R"(INSERT INTO revocations VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET until = max(until, excluded.until))",
    "SELECT id, until, tenant FROM revocations ORDER BY id",
    "DELETE FROM claims WHERE made < ?",
    "DELETE FROM revocations WHERE until < ?",
    "DELETE FROM sandboxes WHERE life = 2 AND expires < ?",
    R"(DELETE FROM sandboxes WHERE id IN
       (SELECT id FROM sandboxes WHERE life = 2 ORDER BY created DESC LIMIT -1 OFFSET ?))",
    "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM keys WHERE id = ?",
    "SELECT id, digest, tenant, label, created, authority FROM keys ORDER BY id",
    "UPDATE starts SET count = count + 1 RETURNING count",
    "SELECT draining FROM starts",
    "UPDATE starts SET draining = ?",
    "SELECT number, text, mac FROM release",
    "INSERT OR REPLACE INTO release VALUES (1, ?, ?, ?)",
    "DELETE FROM release",
};

std::int64_t number(WallTime time) { return time.time_since_epoch().count(); }
WallTime time_of(std::int64_t number) { return WallTime{std::chrono::milliseconds{number}}; }

template <std::size_t Size>
Result<std::array<std::byte, Size>> fixed(std::span<const std::byte> bytes) {
  std::array<std::byte, Size> value{};
  if (bytes.size() != Size) return Error{Errc::invalid, "journal: a value of another length"};
  std::ranges::copy(bytes, value.begin());
  return value;
}

// However many rows it changed.
Status done(Result<int> ran) {
  if (!ran) return std::move(ran).error();
  return {};
}

// Those of `making` to `ended`.
Result<Life> life_of(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(Life::ended)) {
    return Error{Errc::invalid, "journal: a sandbox in no state that there is"};
  }
  return static_cast<Life>(number);
}

}  // namespace

Result<Ledger> Ledger::open(const std::string& path) {
  TRY(Database database, Database::open(path));
  std::int64_t version = 0;
  {
    TRY(Statement ask, database.prepare("PRAGMA user_version"));
    TRY(const bool row, ask.step());
    version = row ? ask.number(0) : 0;
  }
  if (version < 0 || version > kVersion) {
    return Error{Errc::invalid, path + ": a journal of version " + std::to_string(version) +
                                    ", this program knows version " + std::to_string(kVersion) +
                                    ": start the program that wrote it"};
  }
  for (; version < kVersion; ++version) {
    const Status done = database.execute(kSteps[static_cast<std::size_t>(version)]);
    if (!done) {
      static_cast<void>(database.execute("ROLLBACK"));
      return Error{done.error()}.with(path);
    }
  }
  Ledger ledger{std::move(database)};
  TRY_DO(ledger.prepare());
  return ledger;
}

Status Ledger::prepare() {
  static_assert(std::size(kStatements) == kCount);
  statements_.reserve(kCount);
  for (const std::string_view sql : kStatements) {
    TRY(Statement statement, database_.prepare(sql));
    statements_.push_back(std::move(statement));
  }
  return {};
}

Status Ledger::add(const SandboxRow& row, const std::optional<CreateKey>& key, WallTime now) {
  if (!key) {
    return done(statements_[kAdd]
                    .bind(row.id)
                    .bind(row.tenant)
                    .bind(static_cast<std::int64_t>(row.life))
                    .bind(number(row.created))
                    .bind(number(row.expires))
                    .bind(row.labels)
                    .bind(row.policy)
                    .bind(row.verdict)
                    .run());
  }
  // Both or none, also among other changes.
  TRY_DO(database_.execute("SAVEPOINT both"));
  const auto claimed = statements_[kClaim]
                           .bind(key->tenant)
                           .bind(key->key)
                           .bind(key->request)
                           .bind(row.id)
                           .bind(number(now))
                           .run();
  Status added = done(claimed);
  if (claimed && *claimed == 0) added = Error{Errc::exists, "journal: the key is claimed already"};
  if (added) added = add(row, std::nullopt, now);
  TRY_DO(database_.execute(added ? "RELEASE both" : "ROLLBACK TO both; RELEASE both"));
  return added;
}

Status Ledger::one_row(Statement& statement, std::string_view id) {
  TRY(const int changed, statement.bind(id).run());
  if (changed == 0) return Error{Errc::not_found, "journal: no such sandbox"};
  return {};
}

Status Ledger::set_living(std::string_view id) { return one_row(statements_[kLive], id); }

Status Ledger::change(std::string_view id, WallTime expires, std::string_view labels,
                      std::string_view policy) {
  return one_row(statements_[kChange].bind(number(expires)).bind(labels).bind(policy), id);
}

Status Ledger::set_ended(std::string_view id, std::string_view verdict) {
  return one_row(statements_[kEnd].bind(verdict), id);
}

Status Ledger::forget(std::string_view id) {
  TRY_DO(done(statements_[kForgetClaim].bind(id).run()));
  return done(statements_[kForget].bind(id).run());
}

Result<std::vector<SandboxRow>> Ledger::sandboxes() { return rows_of(statements_[kAll]); }

Result<std::vector<SandboxRow>> Ledger::unended() { return rows_of(statements_[kUnended]); }

Result<std::optional<SandboxRow>> Ledger::ended(std::string_view id) {
  TRY(std::vector<SandboxRow> rows, rows_of(statements_[kEnded].bind(id)));
  if (rows.empty()) return std::optional<SandboxRow>{};
  return std::optional{std::move(rows.front())};
}

Result<std::vector<SandboxRow>> Ledger::rows_of(Statement& all) {
  std::vector<SandboxRow> rows;
  for (;;) {
    TRY(const bool row, all.step());
    if (!row) return rows;
    const auto life = life_of(all.number(2));
    if (!life) {
      all.reset();
      return life.error();
    }
    rows.push_back({.id = std::string{all.text(0)},
                    .tenant = std::string{all.text(1)},
                    .life = *life,
                    .created = time_of(all.number(3)),
                    .expires = time_of(all.number(4)),
                    .labels = std::string{all.text(5)},
                    .policy = std::string{all.text(6)},
                    .verdict = std::string{all.text(7)}});
  }
}

Result<std::optional<Claim>> Ledger::claimed(std::string_view tenant, std::string_view key) {
  Statement& ask = statements_[kClaimed];
  TRY(const bool row, ask.bind(tenant).bind(key).step());
  if (!row) return std::optional<Claim>{};
  Claim claim{.sandbox = std::string{ask.text(0)}, .made = time_of(ask.number(2))};
  const auto request = fixed<std::tuple_size_v<Digest>>(ask.bytes(1));
  ask.reset();
  if (!request) return request.error();
  claim.request = *request;
  return std::optional{std::move(claim)};
}

Status Ledger::refuse(const CreateKey& key, WallTime now) {
  return done(statements_[kRefuse]
                  .bind(key.tenant)
                  .bind(key.key)
                  .bind(key.request)
                  .bind(number(now))
                  .run());
}

Status Ledger::revoke(const Revocation& revocation) {
  return done(statements_[kRevoke]
                  .bind(revocation.id)
                  .bind(number(revocation.until))
                  .bind(revocation.tenant)
                  .run());
}

Result<std::vector<Revocation>> Ledger::revocations() {
  Statement& all = statements_[kRevoked];
  std::vector<Revocation> rows;
  for (;;) {
    TRY(const bool row, all.step());
    if (!row) return rows;
    const auto id = fixed<std::tuple_size_v<RevocationId>>(all.bytes(0));
    if (!id) {
      all.reset();
      return id.error();
    }
    rows.push_back({*id, time_of(all.number(1)), std::string{all.text(2)}});
  }
}

Status Ledger::sweep(WallTime now, std::chrono::milliseconds kept) {
  TRY_DO(done(statements_[kSweepClaims].bind(number(now - kept)).run()));
  TRY_DO(done(statements_[kSweepEnded].bind(number(now - kept)).run()));
  TRY_DO(done(statements_[kSweepMany].bind(kMostEnded).run()));
  return sweep_revocations(now);
}

Status Ledger::sweep_revocations(WallTime now) {
  return done(statements_[kSweepRevoked].bind(number(now)).run());
}

Status Ledger::add_key(const KeyRow& row) {
  return done(statements_[kAddKey]
                  .bind(row.id)
                  .bind(row.digest)
                  .bind(row.tenant)
                  .bind(row.label)
                  .bind(number(row.created))
                  .bind(row.authority)
                  .run());
}

Status Ledger::remove_key(std::string_view id) {
  return done(statements_[kRemoveKey].bind(id).run());
}

Result<std::vector<KeyRow>> Ledger::keys() {
  Statement& all = statements_[kKeys];
  std::vector<KeyRow> rows;
  for (;;) {
    TRY(const bool row, all.step());
    if (!row) return rows;
    const auto digest = fixed<std::tuple_size_v<Digest>>(all.bytes(1));
    if (!digest) {
      all.reset();
      return digest.error();
    }
    const auto authority = all.bytes(5);
    rows.push_back({.id = std::string{all.text(0)},
                    .digest = *digest,
                    .tenant = std::string{all.text(2)},
                    .label = std::string{all.text(3)},
                    .created = time_of(all.number(4)),
                    .authority = {authority.begin(), authority.end()}});
  }
}

Result<std::uint32_t> Ledger::count_start() {
  Statement& count = statements_[kStart];
  TRY(const bool row, count.step());
  if (!row) return Error{Errc::invalid, "journal: no count of starts"};
  const auto number = static_cast<std::uint32_t>(count.number(0));
  TRY(const bool more, count.step());
  if (more) return Error{Errc::invalid, "journal: more than one count of starts"};
  return number;
}

Result<bool> Ledger::is_draining() {
  Statement& ask = statements_[kDraining];
  TRY(const bool row, ask.step());
  const bool is_draining = row && ask.number(0) != 0;
  ask.reset();
  return is_draining;
}

Status Ledger::set_draining(bool is_draining) {
  return done(statements_[kSetDraining].bind(std::int64_t{is_draining ? 1 : 0}).run());
}

Result<std::optional<ReleaseRow>> Ledger::release() {
  Statement& ask = statements_[kRelease];
  TRY(const bool row, ask.step());
  if (!row) return std::optional<ReleaseRow>{};
  const auto mac = fixed<std::tuple_size_v<Digest>>(ask.bytes(2));
  auto kept = std::optional{ReleaseRow{.number = static_cast<std::uint64_t>(ask.number(0)),
                                       .text = std::string{ask.text(1)}}};
  ask.reset();
  // One of no length that a MAC has is none that anybody made.
  if (mac) kept->mac = *mac;
  return kept;
}

Status Ledger::keep_release(const ReleaseRow& row) {
  return done(statements_[kKeepRelease]
                  .bind(static_cast<std::int64_t>(row.number))
                  .bind(row.text)
                  .bind(std::span<const std::byte>{row.mac})
                  .run());
}

Status Ledger::drop_release() { return done(statements_[kDropRelease].run()); }

Status Ledger::begin(bool durable) {
  if (durable != durable_) {
    TRY_DO(
        database_.execute(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
    durable_ = durable;
  }
  return database_.execute("BEGIN IMMEDIATE");
}

Status Ledger::commit() { return database_.execute("COMMIT"); }

void Ledger::roll_back() { static_cast<void>(database_.execute("ROLLBACK")); }

}  // namespace cordon::journal
