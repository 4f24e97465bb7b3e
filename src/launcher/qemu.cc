// SPDX-License-Identifier: Apache-2.0
#include "launcher/qemu.h"

#include <fmt/format.h>

#include "frame/guest.h"

namespace cordon::launcher {
namespace {

// As few devices as there can be: two ports, and a link where there is a network. Without the
// timers of an old machine a kernel does not find out how fast its processor is.
constexpr const char* kMachine =
    "microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=off,pcie=off,usb=off";
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
// Of what translated instructions take.
constexpr unsigned kTranslations = 64;

// One processor waits for itself at once where it is told to: else each driver, group and link that
// is made waits for the next ticks of its clock.
std::string kernel_words(const frame::Machine& machine, MachineStart start,
                         std::uint64_t kilohertz) {
  std::string words =
      "quiet loglevel=0 panic=-1 reboot=t audit=0 apparmor=0 selinux=0 cryptomgr.notests "
      "random.trust_cpu=off net.ifnames=0 ipv6.disable=1 rcupdate.rcu_expedited=1";
  if (!machine.kvm) {
    // Each path through the kernel is translated: what nobody has written a policy for is left out,
    // and what would be counted for nobody.
    words += fmt::format(
        " tsc_early_khz={} tsc=reliable mitigations=off lsm=landlock,yama cgroup_disable=memory "
        "psi=0 nowatchdog",
        kilohertz);
  }
  if (start == MachineStart::save) words += fmt::format(" {}", frame::kSavedWord);
  return words;
}

}  // namespace

std::vector<std::string> qemu_arguments(const frame::LaunchPlan& plan, MachineStart start,
                                        std::uint64_t kilohertz) {
  const frame::Machine& machine = plan.machine;
  const bool is_cold = start == MachineStart::cold;
  const std::string size = fmt::format("{}M", machine.memory / kMebibyte);
  std::vector<std::string> words{"qemu-system-x86_64"};
  const auto add = [&](std::string_view flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  add("-M", fmt::format("{}{}", kMachine, is_cold ? "" : ",memory-backend=ram"));
  add("-accel", machine.kvm ? "kvm" : fmt::format("tcg,thread=single,tb-size={}", kTranslations));
  add("-cpu", machine.kvm ? "host" : "max");
  add("-m", size);
  add("-smp", "1");
  words.insert(words.end(), {"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"});
  add("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
  if (start == MachineStart::load) {
    add("-incoming", "defer");
  } else {
    add("-kernel", fmt::format("/proc/self/fd/{}", int{kKernelFd}));
    add("-initrd", fmt::format("/proc/self/fd/{}", int{kInitramfsFd}));
    add("-append", kernel_words(machine, start, kilohertz));
  }
  add("-chardev", fmt::format("socket,id=control,fd={}", int{kControlFd}));
  add("-chardev", fmt::format("socket,id=files,fd={}", int{kFilesFd}));
  add("-device", "virtio-serial-device,max_ports=3");
  add("-device", "virtserialport,chardev=control,nr=1,name=cordon.control");
  add("-device", "virtserialport,chardev=files,nr=2,name=cordon.files");
  // Of those that begin as each other all have a link, which leads nowhere without a network.
  if (plan.network || !is_cold) {
    add("-netdev", fmt::format("tap,id=link,fd={},vhost=off", int{kLinkFd}));
    // To nobody is it news that a machine which was saved goes on here.
    add("-device", "virtio-net-device,netdev=link,mac=02:00:0a:00:00:06,guest_announce=off");
  }
  if (!is_cold) {
    // Who begins as another one has a copy of each page that it writes.
    add("-object",
        fmt::format("memory-backend-file,id=ram,size={},mem-path=/proc/self/fd/{},share={}", size,
                    int{kMemoryFd}, start == MachineStart::save ? "on" : "off"));
    add("-chardev", fmt::format("socket,id=monitor,fd={}", int{kMonitorFd}));
    add("-mon", "chardev=monitor,mode=control");
  }
  return words;
}

}  // namespace cordon::launcher
