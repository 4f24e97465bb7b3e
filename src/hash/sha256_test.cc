// SPDX-License-Identifier: Apache-2.0
#include "hash/sha256.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon {
namespace {

// FIPS 180-2, appendix B.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(to_hex(sha256({as_bytes("abc")})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256({as_bytes("a"), {}, as_bytes("bc")})), to_hex(sha256({as_bytes("abc")})));
  EXPECT_EQ(to_hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace cordon
