// SPDX-License-Identifier: Apache-2.0
// What QEMU is told, word by word: no file of the host, no device but two ports and a link.
#include "launcher/qemu.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "launcher/plan_mutation_test.h"

namespace cordon::launcher {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kWords =
    "quiet loglevel=0 panic=-1 reboot=t audit=0 apparmor=0 selinux=0 cryptomgr.notests "
    "random.trust_cpu=off net.ifnames=0 ipv6.disable=1 rcupdate.rcu_expedited=1 "
    "tsc_early_khz=2100000 tsc=reliable "
    "mitigations=off lsm=landlock,yama cgroup_disable=memory psi=0 nowatchdog";

frame::LaunchPlan in_machine() {
  frame::LaunchPlan plan = good_plan();
  plan.engine = frame::Engine::machine;
  plan.machine = {.memory = frame::kUsualMachine, .kvm = false};
  plan.network = false;
  return plan;
}

TEST(Qemu, IsToldNothingElse) {
  EXPECT_EQ(qemu_arguments(in_machine(), MachineStart::cold, 2'100'000),
            (Words{"qemu-system-x86_64",
                   "-M",
                   "microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=off,pcie=off,usb=off",
                   "-accel",
                   "tcg,thread=single,tb-size=64",
                   "-cpu",
                   "max",
                   "-m",
                   "256M",
                   "-smp",
                   "1",
                   "-nodefaults",
                   "-no-user-config",
                   "-display",
                   "none",
                   "-no-reboot",
                   "-sandbox",
                   "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
                   "-kernel",
                   "/proc/self/fd/5",
                   "-initrd",
                   "/proc/self/fd/6",
                   "-append",
                   kWords,
                   "-chardev",
                   "socket,id=control,fd=3",
                   "-chardev",
                   "socket,id=files,fd=4",
                   "-device",
                   "virtio-serial-device,max_ports=3",
                   "-device",
                   "virtserialport,chardev=control,nr=1,name=cordon.control",
                   "-device",
                   "virtserialport,chardev=files,nr=2,name=cordon.files"}));
}

TEST(Qemu, HasALinkWhereThereIsANetwork) {
  frame::LaunchPlan plan = in_machine();
  plan.network = true;
  const Words words = qemu_arguments(plan, MachineStart::cold, 1);
  EXPECT_EQ(words[words.size() - 3], "tap,id=link,fd=7,vhost=off");
}

// Who begins as another maps its memory for itself, and needs no kernel.
TEST(Qemu, SharesMemoryOnlyWithWhatWillBeSaved) {
  const auto all = [](MachineStart start) {
    std::string text;
    for (const std::string& word : qemu_arguments(in_machine(), start, 1)) text += word + " ";
    return text;
  };
  const std::string saved = all(MachineStart::save);
  const std::string loaded = all(MachineStart::load);
  EXPECT_NE(saved.find("mem-path=/proc/self/fd/8,share=on"), std::string::npos);
  EXPECT_NE(loaded.find("mem-path=/proc/self/fd/8,share=off"), std::string::npos);
  EXPECT_EQ(loaded.find("-kernel"), std::string::npos);
  EXPECT_NE(loaded.find("-incoming defer"), std::string::npos);
}

// Where the processor helps, nothing of the guest's kernel is given up for speed.
TEST(Qemu, LeavesMitigationsOnWithKvm) {
  frame::LaunchPlan plan = in_machine();
  plan.machine.kvm = true;
  const Words words = qemu_arguments(plan, MachineStart::cold, 1);
  EXPECT_EQ(words[4], "kvm");
  for (const std::string& word : words) {
    EXPECT_EQ(word.find("mitigations=off"), std::string::npos);
    EXPECT_EQ(word.find("tsc_early"), std::string::npos);
    EXPECT_EQ(word.find("lsm="), std::string::npos);
  }
}

}  // namespace
}  // namespace cordon::launcher
