// SPDX-License-Identifier: Apache-2.0
// A journal's file for one test, in a directory of its own that goes with it.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>

#include <gtest/gtest.h>

#include "journal/ledger.h"

namespace cordon::journal {

class JournalFile : public testing::Test {
 protected:
  JournalFile() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon-journal-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~JournalFile() override {
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path() + end, ignored);
    std::filesystem::remove(directory_, ignored);
  }
  std::string path() const { return (directory_ / "journal").string(); }
  Ledger open() const {
    auto ledger = Ledger::open(path());
    if (!ledger) throw std::runtime_error{ledger.error().text()};
    return *std::move(ledger);
  }

  std::filesystem::path directory_;
};

}  // namespace cordon::journal
