// SPDX-License-Identifier: Apache-2.0
// The order of the second descent, and what its steps leave.
#include "guest/descent.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "guest/program.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

using namespace std::string_view_literals;

std::ptrdiff_t place(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kToSpawner, [&](const Step& step) { return step.name == name; });
  return found - kToSpawner.begin();
}

TEST(Descent, LoadsTheFilterLast) { EXPECT_EQ(kToSpawner.back().name, "filter"sv); }

TEST(Descent, OpensPathsWhenTheTreeStands) { EXPECT_EQ(place("landlock"), kBeforeTree); }

TEST(Descent, ChangesTheIdBeforeItGivesUpTheRightTo) {
  EXPECT_LT(place("identity"), place("capabilities"));
  EXPECT_LT(place("identity"), place("not_dumpable"));
  EXPECT_LT(place("capabilities"), place("landlock"));
}

TEST(Descent, LeavesNoCapabilityAndNoCore) {
  const std::string said = os::in_child([] {
    const frame::Fences fences{.uid = ::getuid(), .gid = ::getgid(), .limits = {.open_files = 50}};
    const Descent descent{.fences = fences, .find_filter = find_filter};
    for (const Step& step : kToSpawner) {
      if (step.name == "filter") continue;
      const Status taken = step.take(descent);
      if (!taken) return std::string{step.name} + ": " + taken.error().text();
    }
    const auto now = os::read_capabilities();
    if (!now || !now->permitted.empty() || !now->ambient.empty())
      return std::string{"capabilities"};
    rlimit core{};
    rlimit files{};
    ::getrlimit(RLIMIT_CORE, &core);
    ::getrlimit(RLIMIT_NOFILE, &files);
    if (core.rlim_max > 1 || files.rlim_cur != 50 || files.rlim_max != 50) {
      return std::string{"limits"};
    }
    return std::string{"ok"};
  });
  EXPECT_EQ(said, "ok");
}

TEST(Descent, StopsAtTheFirstStepThatFails) {
  const std::string said = os::in_child([] {
    const frame::Fences fences{.uid = ::getuid(), .gid = ::getgid(), .capabilities = {99}};
    const auto failure = descend(kToSpawner, {.fences = fences, .find_filter = find_filter});
    return failure ? std::string{failure->step} + " " + std::to_string(failure->error_number)
                   : std::string{"none"};
  });
  EXPECT_EQ(said, "capabilities " + std::to_string(EINVAL));
}

TEST(Descent, LandlockLeavesOnlyTheNamedPaths) {
  const auto abi = os::landlock_abi();
  if (!abi) GTEST_SKIP() << "no Landlock: " << abi.error().text();
  const os::TempDir dir;
  const std::string here = dir.path().string();
  ASSERT_TRUE(os::create_file(dir.fd(), "inside", "x", 0600));
  const std::string said = os::in_child([&] {
    const frame::Fences fences{.landlock_abi = *abi,
                               .paths = {{here, frame::PathUse::read},
                                         {"/no/such/path", frame::PathUse::all},
                                         {"/dev/null", frame::PathUse::device}}};
    if (!os::set_no_new_privs()) return std::string{"no_new_privs"};
    const Status applied = apply_landlock({.fences = fences, .find_filter = find_filter});
    if (!applied) return applied.error().text();
    const auto opens = [](const std::string& path, int flags) {
      return os::openat(os::at_cwd(), path.c_str(), flags) ? "yes " : "no ";
    };
    return std::string{opens(here + "/inside", O_RDONLY)} + opens(here + "/inside", O_WRONLY) +
           opens("/etc/passwd", O_RDONLY) + opens("/dev/null", O_RDWR);
  });
  EXPECT_EQ(said, "yes no no yes ");
}

TEST(Descent, NoUseOfAPathMakesDevices) {
  for (const auto use : {frame::PathUse::read, frame::PathUse::read_exec, frame::PathUse::all,
                         frame::PathUse::device}) {
    EXPECT_EQ(rights_of(use) & (os::abi::kFsMakeChar | os::abi::kFsMakeBlock), 0U);
  }
  EXPECT_EQ(rights_of(frame::PathUse::read) & os::abi::kFsExecute, 0U);
}

TEST(Descent, LoadsNoFilterThatTellsWhereNobodyIsTold) {
  const std::string said = os::in_child([] {
    const frame::Fences fences{.uid = ::getuid(), .gid = ::getgid(), .filter = "strict+notify"};
    const auto failure = descend(kToSpawner, {.fences = fences, .find_filter = find_filter});
    return failure ? std::string{failure->step} + " " + std::to_string(failure->error_number)
                   : std::string{"none"};
  });
  EXPECT_EQ(said, "filter " + std::to_string(EINVAL));
}

TEST(FilterProfile, RefusesPidOnesOwn) {
  EXPECT_TRUE(find_filter("strict"));
  EXPECT_TRUE(find_filter("compat+nosetid"));
  EXPECT_TRUE(find_filter("strict+notify"));
  for (const auto* name : {"init", "", "none-for-tests", "Strict"}) {
    EXPECT_FALSE(find_filter(name)) << name;
  }
}

TEST(Program, LooksForANameInThePathOfItsEnvironment) {
  using List = std::vector<std::string>;
  EXPECT_EQ(candidates("sh", {"PATH=/a:/b"}), (List{"/a/sh", "/b/sh"}));
  EXPECT_EQ(candidates("sh", {"X=y", "PATH=:/a::/b:"}), (List{"/a/sh", "/b/sh"}));
  EXPECT_EQ(candidates("./sh", {"PATH=/a"}), (List{"./sh"}));
  EXPECT_EQ(candidates("sh", {}), (List{"/usr/local/bin/sh", "/usr/bin/sh", "/bin/sh"}));
  EXPECT_EQ(candidates("", {"PATH=/a"}), List{});
}

}  // namespace
}  // namespace cordon::guest
