// SPDX-License-Identifier: Apache-2.0
#include "journal/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>

#include "base/bytes.h"
#include "os/file.h"

namespace cordon::journal {
namespace {

Errc code_of(int result) {
  switch (result & 0xFF) {  // the upper bits tell more of the same
    case SQLITE_CONSTRAINT:
      return Errc::exists;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return Errc::exhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::timeout;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::invalid;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return Errc::denied;
    default:
      return Errc::unavailable;
  }
}

Error error_of(sqlite3* database, int result) {
  const char* const text =
      database != nullptr ? ::sqlite3_errmsg(database) : ::sqlite3_errstr(result);
  return Error{code_of(result), std::string{"journal: "} + text};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  ::sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* database) const noexcept { ::sqlite3_close_v2(database); }

Statement& Statement::bind(std::string_view text) {
  const int result = ::sqlite3_bind_text64(statement_.get(), next_++, text.data(), text.size(),
                                           SQLITE_TRANSIENT, SQLITE_UTF8);
  if (result != SQLITE_OK) failed_ = result;
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  const int result = ::sqlite3_bind_int64(statement_.get(), next_++, number);
  if (result != SQLITE_OK) failed_ = result;
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> bytes) {
  const int result = ::sqlite3_bind_blob64(statement_.get(), next_++, bytes.data(), bytes.size(),
                                           SQLITE_TRANSIENT);
  if (result != SQLITE_OK) failed_ = result;
  return *this;
}

Statement& Statement::bind_null() {
  const int result = ::sqlite3_bind_null(statement_.get(), next_++);
  if (result != SQLITE_OK) failed_ = result;
  return *this;
}

void Statement::reset() {
  ::sqlite3_reset(statement_.get());
  ::sqlite3_clear_bindings(statement_.get());
  next_ = 1;
  failed_ = 0;
}

Result<bool> Statement::step() {
  const int result = failed_ != 0 ? failed_ : ::sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = error_of(::sqlite3_db_handle(statement_.get()), result);
  reset();
  return error;
}

Result<int> Statement::run() {
  TRY(const bool row, step());
  if (row) {
    reset();
    return Error{Errc::internal, "journal: a statement that should give no rows gave one"};
  }
  return ::sqlite3_changes(::sqlite3_db_handle(statement_.get()));
}

std::string_view Statement::text(int column) const {
  const auto* const first = ::sqlite3_column_text(statement_.get(), column);
  const int size = ::sqlite3_column_bytes(statement_.get(), column);
  if (first == nullptr) return {};
  return {reinterpret_cast<const char*>(first), static_cast<std::size_t>(size)};
}

std::int64_t Statement::number(int column) const {
  return ::sqlite3_column_int64(statement_.get(), column);
}

std::span<const std::byte> Statement::bytes(int column) const { return as_bytes(text(column)); }

bool Statement::is_null(int column) const {
  return ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::string& path) {
  // Made here, with our mode: its log and index get the same.
  auto file = os::openat(os::at_cwd(), path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return std::move(file).error().with(path);
  sqlite3* raw = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
  const int result = ::sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database{raw};
  if (result != SQLITE_OK) return error_of(raw, result).with(path);
  // What a file says must not become more than data: its schema calls nothing.
  ::sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_busy_timeout(raw, 2000);
  for (const char* setting : {"PRAGMA journal_mode = WAL", "PRAGMA foreign_keys = ON"}) {
    Status set = database.execute(setting);
    if (!set) return std::move(set).error().with(path);
  }
  TRY(Statement check, database.prepare("PRAGMA quick_check(1)"));
  TRY(const bool row, check.step());
  if (!row || check.text(0) != "ok") {
    return Error{Errc::invalid, path + ": the journal is damaged: " +
                                    std::string{row ? check.text(0) : "no answer"}};
  }
  return database;
}

Status Database::execute(const char* sql) {
  const int result = ::sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return error_of(database_.get(), result);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int result = ::sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (result != SQLITE_OK) return error_of(database_.get(), result);
  return Statement{raw};
}

}  // namespace cordon::journal
