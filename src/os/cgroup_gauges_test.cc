// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_gauges.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::os {
namespace {

// Directories with the files that groups have: what is read is the same.
class CgroupGaugesTest : public testing::Test {
 protected:
  std::string directory(const std::string& name) {
    const std::string path = (scratch_.path() / name).string();
    std::filesystem::create_directory(path);
    return path;
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream{path} << text; }

 private:
  TempDir scratch_;
};

TEST_F(CgroupGaugesTest, EachIsReadWhereItIsInVersion1) {
  const std::string memory = directory("memory");
  const std::string pids = directory("pids");
  const std::string cpu = directory("cpuacct");
  put(memory + "/memory.usage_in_bytes", "4096\n");
  put(pids + "/pids.current", "3\n");
  put(pids + "/pids.events", "max 7\n");
  put(cpu + "/cpuacct.usage", "12345678\n");
  put(cpu + "/cpu.stat", "nr_periods 0\n");
  CgroupGauges gauges{{memory, pids, cpu}};
  EXPECT_EQ(gauges.memory_bytes(), 4096U);
  EXPECT_EQ(gauges.pids(), 3U);
  EXPECT_EQ(gauges.pids_refused(), 7U);
  EXPECT_EQ(gauges.cpu(), std::chrono::microseconds{12'345});
}

TEST_F(CgroupGaugesTest, EachIsReadWhereItIsInVersion2) {
  const std::string group = directory("group");
  put(group + "/memory.current", "8192\n");
  put(group + "/pids.current", "max\n");
  put(group + "/pids.events", "max 1\nelse 2\n");
  put(group + "/cpu.stat", "usage_usec 99\nuser_usec 9\n");
  CgroupGauges gauges{{group}};
  EXPECT_EQ(gauges.memory_bytes(), 8192U);
  EXPECT_EQ(gauges.pids(), std::nullopt);
  EXPECT_EQ(gauges.pids_refused(), 1U);
  EXPECT_EQ(gauges.cpu(), std::chrono::microseconds{99});
  put(group + "/memory.current", "16384\n");
  EXPECT_EQ(gauges.memory_bytes(), 16384U);
}

TEST_F(CgroupGaugesTest, WhatNoGroupCountsIsNothing) {
  CgroupGauges gauges{{directory("bare"), "/nowhere"}};
  EXPECT_EQ(gauges.memory_bytes(), std::nullopt);
  EXPECT_EQ(gauges.pids(), std::nullopt);
  EXPECT_EQ(gauges.pids_refused(), std::nullopt);
  EXPECT_EQ(gauges.cpu(), std::nullopt);
}

}  // namespace
}  // namespace cordon::os
