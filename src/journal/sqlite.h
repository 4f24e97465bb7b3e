// SPDX-License-Identifier: Apache-2.0
// SQLite, as far as a journal needs it: a database, and statements that are made once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cordon::journal {

// Of one connection. Used by one thread at a time.
class Statement {
 public:
  // From the first parameter on, in their order. Bytes are copied.
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(std::span<const std::byte> bytes);
  Statement& bind_null();

  // One step: true, there is a row; false, it is done. After an error, or when it is done, the
  // parameters are free for the next use.
  Result<bool> step();
  // For one that gives no rows. Gives how many rows it changed.
  Result<int> run();

  // Of the row that step() gave; good until the next step.
  std::string_view text(int column) const;
  std::int64_t number(int column) const;
  std::span<const std::byte> bytes(int column) const;
  bool is_null(int column) const;

  // Gives up the rows that were not read.
  void reset();

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_{statement} {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
  int failed_ = 0;  // a bind that did not take
};

class Database {
 public:
  // Opens or makes the file, which is ours alone (0600), and checks it. `invalid`: it is no
  // database, or a damaged one; the file is left as it is.
  static Result<Database> open(const std::string& path);

  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  explicit Database(sqlite3* database) : database_{database} {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace cordon::journal
