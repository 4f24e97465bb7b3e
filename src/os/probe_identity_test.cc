// SPDX-License-Identifier: Apache-2.0
// The texts that tell who asks and where.
#include "os/probe_identity.h"

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TEST(PrettyName, IsTakenWithAndWithoutQuotes) {
  EXPECT_EQ(pretty_name("ID=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(pretty_name("PRETTY_NAME=Alpine"), "Alpine");
  EXPECT_EQ(pretty_name("NAME=x\nXPRETTY_NAME=y\n"), "");
  EXPECT_EQ(pretty_name(""), "");
}

TEST(LoginName, IsThatOfTheId) {
  constexpr std::string_view kPasswd =
      "root:x:0:0:root:/root:/bin/sh\n\nodd\nodd:x\nann:x:1000:1000::/home/ann:/bin/sh\n";
  EXPECT_EQ(login_name(kPasswd, 0), "root");
  EXPECT_EQ(login_name(kPasswd, 1000), "ann");
  EXPECT_EQ(login_name(kPasswd, 100), "");
}

TEST(Identity, IsNeverEmpty) {
  HostFacts host;
  probe_identity(host);
  EXPECT_NE(host.kernel, "");
  EXPECT_NE(host.machine, "");
  EXPECT_NE(host.system, "");
}

}  // namespace
}  // namespace cordon::os
