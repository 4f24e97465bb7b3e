// SPDX-License-Identifier: Apache-2.0
#include "launcher/qemu.h"

#include <fmt/format.h>

namespace cordon::launcher {
namespace {

// As few devices as there can be: two ports, and a link where there is a network. Without the
// timers of an old machine a kernel does not find out how fast its processor is.
constexpr const char* kMachine =
    "microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=off,pcie=off,usb=off";
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
// Of what translated instructions take.
constexpr unsigned kTranslations = 64;

std::string kernel_words(const frame::Machine& machine, std::uint64_t kilohertz) {
  std::string words =
      "quiet loglevel=0 panic=-1 reboot=t audit=0 apparmor=0 selinux=0 cryptomgr.notests "
      "random.trust_cpu=off net.ifnames=0 ipv6.disable=1";
  if (!machine.kvm) {
    words += fmt::format(" tsc_early_khz={} tsc=reliable mitigations=off", kilohertz);
  }
  return words;
}

}  // namespace

std::vector<std::string> qemu_arguments(const frame::LaunchPlan& plan, std::uint64_t kilohertz) {
  const frame::Machine& machine = plan.machine;
  std::vector<std::string> words{
      "qemu-system-x86_64",
      "-M",
      kMachine,
      "-accel",
      machine.kvm ? "kvm" : fmt::format("tcg,thread=single,tb-size={}", kTranslations),
      "-cpu",
      machine.kvm ? "host" : "max",
      "-m",
      fmt::format("{}M", machine.memory / kMebibyte),
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
      fmt::format("/proc/self/fd/{}", int{kKernelFd}),
      "-initrd",
      fmt::format("/proc/self/fd/{}", int{kInitramfsFd}),
      "-append",
      kernel_words(machine, kilohertz),
      "-chardev",
      fmt::format("socket,id=control,fd={}", int{kControlFd}),
      "-chardev",
      fmt::format("socket,id=files,fd={}", int{kFilesFd}),
      "-device",
      "virtio-serial-device,max_ports=3",
      "-device",
      "virtserialport,chardev=control,nr=1,name=cordon.control",
      "-device",
      "virtserialport,chardev=files,nr=2,name=cordon.files",
  };
  if (plan.network) {
    words.insert(words.end(), {"-netdev", fmt::format("tap,id=link,fd={},vhost=off", int{kLinkFd}),
                               "-device", "virtio-net-device,netdev=link,mac=02:00:0a:00:00:06"});
  }
  return words;
}

}  // namespace cordon::launcher
