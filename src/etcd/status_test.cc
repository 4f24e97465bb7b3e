// SPDX-License-Identifier: Apache-2.0
#include "etcd/status.h"

#include <gtest/gtest.h>

#include "etcd/members.h"
#include "etcd/pause.h"

namespace cordon::etcd {
namespace {

struct Row {
  int code;
  std::string_view text;
  Errc means;
};

// What etcd 3.4 answers, by gRPC's numbers.
constexpr Row kRows[] = {
    {1, "context canceled", Errc::unavailable},
    {2, "raft proposal dropped", Errc::unavailable},
    {3, "etcdserver: key is not provided", Errc::invalid},
    {3, "etcdserver: user name is empty", Errc::denied},
    {3, "etcdserver: revision of auth store is old", Errc::unavailable},
    {4, "Deadline Exceeded", Errc::timeout},
    {5, "etcdserver: requested lease not found", Errc::not_found},
    {7, "etcdserver: permission denied", Errc::denied},
    {8, "etcdserver: mvcc: database space exceeded", Errc::exhausted},
    {9, "etcdserver: lease already exists", Errc::exists},
    {9, "etcdserver: authentication is not enabled", Errc::invalid},
    {11, "etcdserver: mvcc: required revision has been compacted", Errc::not_found},
    {13, "stream terminated by RST_STREAM", Errc::unavailable},
    {14, "etcdserver: request timed out", Errc::unavailable},
    {14, "failed to connect to all addresses", Errc::unavailable},
    {15, "etcdserver: corrupt cluster", Errc::internal},
    {16, "etcdserver: invalid auth token", Errc::denied},
};

TEST(EtcdStatus, SaysWhatTheCallerCanDo) {
  for (const Row& row : kRows) {
    EXPECT_EQ(error_of(row.code, row.text).code(), row.means) << row.code << ' ' << row.text;
  }
}

TEST(EtcdStatus, NamesEtcdOnce) {
  EXPECT_EQ(error_of(7, "etcdserver: permission denied").text(), "etcd: permission denied");
}

TEST(EtcdStatus, AnswersThatWereRefusedDoNotPass) {
  for (const Row& row : kRows) {
    const bool is_unsure = row.means == Errc::unavailable || row.means == Errc::timeout;
    EXPECT_EQ(is_passing(row.means), is_unsure) << row.text;
  }
}

TEST(EtcdMembers, StaysWithTheOneThatAnswers) {
  Members members{3, 4};
  EXPECT_EQ(members.now(), 1U);
  members.failed(0);
  EXPECT_EQ(members.now(), 1U);
}

TEST(EtcdMembers, MovesOnOnceForManyCallsThatFailWithOne) {
  Members members{3, 1};
  for (int i = 0; i < 10; ++i) members.failed(1);
  EXPECT_EQ(members.now(), 2U);
  members.failed(2);
  members.failed(0);
  EXPECT_EQ(members.now(), 1U);
}

TEST(EtcdPause, GrowsToASecondAndBeginsAnew) {
  Pause pause{7};
  for (std::chrono::milliseconds due = Pause::kFirst; due <= Pause::kLongest; due *= 2) {
    const auto now = pause.next();
    EXPECT_GE(now, due / 2);
    EXPECT_LE(now, due);
  }
  for (int i = 0; i < 100; ++i) EXPECT_LE(pause.next(), Pause::kLongest);
  pause.reset();
  EXPECT_LE(pause.next(), Pause::kFirst);
}

TEST(EtcdPause, IsNotTheSameForTwo) {
  Pause one{1};
  Pause other{2};
  int alike = 0;
  for (int i = 0; i < 20; ++i) alike += one.next() == other.next() ? 1 : 0;
  EXPECT_LT(alike, 10);
}

}  // namespace
}  // namespace cordon::etcd
