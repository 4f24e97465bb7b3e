// SPDX-License-Identifier: Apache-2.0
// Sandboxes that begin with a program: it runs before anybody asks, also in one that was started
// ahead; and processes that are id 0 where the plan lets them.
#include <algorithm>
#include <fstream>
#include <unistd.h>

#include "service.h"

namespace cordon::service {
namespace {

class RootStandby : public RootService {
 protected:
  frame::LaunchPlan with_standby(const std::string& id) const {
    frame::LaunchPlan wanted = plan(id);
    wanted.setup.standby =
        guest::shell(frame::kStandby, "echo $$ $(date +%s%N); while read x; do echo got $x; done");
    return wanted;
  }
  // What a sandbox's standby had said when its node came, and what it answers.
  struct Told {
    std::string first;
    std::string answer;
    std::uint64_t asked = 0;  // nanoseconds since 1970
  };
  Told told(Node& node, const frame::LaunchPlan& plan) const {
    Told what{.asked = now()};
    Answer answer = node.launch(plan);
    EXPECT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
    if (answer.as<frame::Launched>() == nullptr) return what;
    guest::TestHost host{std::move(answer.fds[0])};
    guest::Heard& heard = host.heard[frame::kStandby];
    EXPECT_TRUE(host.send(frame::Resume{}));
    EXPECT_TRUE(host.hear_until([&] { return heard.out.ends_with('\n'); }));
    what.first = heard.out;
    EXPECT_TRUE(host.send(
        frame::Input{.process = frame::kStandby, .offset = 0, .bytes = "word\n", .last = true}));
    EXPECT_TRUE(host.hear_end(frame::kStandby));
    what.answer = heard.out.substr(what.first.size());
    EXPECT_NE(node.ask(frame::Destroy{plan.id}).as<frame::Ended>(), nullptr);
    return what;
  }
  static std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
  }
  // Whether it ran before it was asked for.
  static bool was_ahead(const Told& told) {
    return std::stoull(told.first.substr(told.first.find(' ') + 1)) < told.asked;
  }
};

TEST_F(RootStandby, RunsFromTheStartOn) {
  write_floor("engines_ahead = 0\n");
  start();
  Node node = this->node();
  for (const char* id : {"abcd2345", "abcd2346", "abcd2347"}) {
    const Told what = told(node, with_standby(id));
    EXPECT_EQ(what.answer, "got word\n");
    EXPECT_FALSE(was_ahead(what)) << "nothing is started ahead here";
  }
}

TEST_F(RootStandby, RunsAheadForAPlanThatCameTwice) {
  write_floor("engines_ahead = 1\n");
  start();
  Node node = this->node();
  EXPECT_FALSE(was_ahead(told(node, with_standby("abcd2345"))));
  EXPECT_FALSE(was_ahead(told(node, with_standby("abcd2346"))));
  ::usleep(900'000);  // 250 ms of rest, and its start
  const Told third = told(node, with_standby("abcd2347"));
  EXPECT_TRUE(was_ahead(third));
  EXPECT_EQ(third.answer, "got word\n");
}

TEST_F(RootStandby, IsForNoPlanThatBeginsWithSomethingElse) {
  write_floor("engines_ahead = 1\n");
  start();
  Node node = this->node();
  told(node, with_standby("abcd2345"));
  told(node, with_standby("abcd2346"));
  ::usleep(900'000);
  frame::LaunchPlan other = with_standby("abcd2347");
  other.setup.standby->environment.emplace_back("OTHER=1");
  EXPECT_FALSE(was_ahead(told(node, other)));
}

TEST_F(RootService, ProcessesAreRootWhereThePlanLetsThemAndHaveNoMorePower) {
  start();
  Node node = this->node();
  frame::LaunchPlan wanted = plan("abcd2345");
  wanted.setup.fences.root_too = true;
  Answer answer = node.launch(wanted);
  ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  guest::TestHost host{std::move(answer.fds[0])};
  const std::string who =
      "id -u; grep CapEff /proc/self/status | cut -f2; chown 1000 /tmp 2>&1 | wc -l; "
      "touch /usr/mine 2>/dev/null || echo refused";
  frame::Start as_root = guest::shell(1, who);
  as_root.as_root = true;
  EXPECT_EQ(host.run(as_root).out, "0\n0000000000000000\n1\nrefused\n");
  EXPECT_EQ(host.run(guest::shell(2, "id -u")).out, "1000\n");
  as_root.process = 3;
  EXPECT_EQ(host.run(as_root).out, "0\n0000000000000000\n1\nrefused\n");
  // One cannot end what another id runs.
  ASSERT_TRUE(host.send(guest::shell(4, "echo $$; exec sleep 100")));
  ASSERT_TRUE(host.hear_until([&] { return host.heard[4].out.ends_with('\n'); }));
  frame::Start killer = guest::shell(5, "kill " + host.heard[4].out + " || true");
  killer.as_root = true;
  EXPECT_NE(host.run(killer).err.find("not permitted"), std::string::npos);
}

}  // namespace
}  // namespace cordon::service
