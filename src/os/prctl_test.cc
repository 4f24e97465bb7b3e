// SPDX-License-Identifier: Apache-2.0
#include "os/prctl.h"

#include <array>
#include <signal.h>
#include <string>
#include <sys/prctl.h>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::os {
namespace {

TEST(Prctl, NoNewPrivsIsOffUntilSetAndStays) {
  EXPECT_EQ(in_child([]() -> std::string {
              const auto before = no_new_privs();
              if (!before) return outcome(before);
              if (const auto done = set_no_new_privs(); !done) return outcome(done);
              const auto after = no_new_privs();
              return after && *after ? "on" : "off";
            }),
            "on");
}

TEST(Prctl, DumpableIsSwitched) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (const auto done = set_dumpable(false); !done) return outcome(done);
              const int off = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
              if (const auto done = set_dumpable(true); !done) return outcome(done);
              const int on = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
              return std::to_string(off) + std::to_string(on);
            }),
            "01");
}

TEST(Prctl, ParentDeathSignalIsKept) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (const auto done = set_parent_death_signal(SIGKILL); !done) return outcome(done);
              int signal = 0;
              ::prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0);
              return std::to_string(signal);
            }),
            "9");
}

TEST(Prctl, SubreaperAdoptsOrphans) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (const auto done = set_child_subreaper(true); !done) return outcome(done);
              const pid_t self = ::getpid();
              auto said = pipe2();
              if (!said) return outcome(said);
              const pid_t middle = ::fork();
              if (middle == 0) {
                if (::fork() == 0) {
                  while (::getppid() != self) ::usleep(1000);
                  ::_exit(write_all(said->write, "adopted") ? 0 : 1);
                }
                ::_exit(0);
              }
              said->write = Fd{};
              auto text = read_all(said->read, 100);
              return text ? *text : outcome(text);
            }),
            "adopted");
}

TEST(Prctl, NamesTheProcess) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (const auto done = set_process_name("cordon-name"); !done) return outcome(done);
              auto name = read_file(at_cwd(), "/proc/self/comm");
              return name ? *name : outcome(name);
            }),
            "cordon-name\n");
}

}  // namespace
}  // namespace cordon::os
