// SPDX-License-Identifier: Apache-2.0
// The first process of a machine whose kernel is taken over: it speaks to the machine's devices
// itself, as no driver would. Queues of no size, descriptors that lead nowhere, in circles or to
// too much, indices that jump, changes while a queue is in use; each from a number, so that every
// run is the same.
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

// As QEMU's microvm lays them out, and as virtio 1.1 names their registers: those of a device of
// the old kind too, whose rings lie one behind the other.
constexpr std::uintptr_t kWindows = 0xfeb00000;
constexpr std::size_t kWindow = 0x200;
constexpr std::size_t kMostWindows = 24;
constexpr std::uint32_t kMagic = 0x74726976;
enum Register : std::uint8_t {
  kVersion = 0x004,
  kDevice = 0x008,
  kDriverFeatures = 0x020,
  kDriverFeaturesSel = 0x024,
  kPageSize = 0x028,
  kQueueSel = 0x030,
  kQueueNumMax = 0x034,
  kQueueNum = 0x038,
  kQueueAlign = 0x03c,
  kQueuePage = 0x040,
  kQueueReady = 0x044,
  kNotify = 0x050,
  kStatus = 0x070,
  kDescLow = 0x080,
  kDriverLow = 0x090,
  kDeviceLow = 0x0a0,
};

struct Descriptor {
  std::uint64_t address;
  std::uint32_t length;
  std::uint16_t flags;
  std::uint16_t next;
};
constexpr std::size_t kDescriptors = 256;

struct Rings {
  Descriptor descriptors[kDescriptors];
  std::uint16_t driver[3 + kDescriptors];  // flags, index, ring
  alignas(4096) std::uint8_t device[8192];
  alignas(4096) std::uint8_t data[4096];
};

// Where a page of ours lies in the machine's memory.
std::uint64_t physical(const void* place) {
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = reinterpret_cast<std::uintptr_t>(place);
  std::uint64_t entry = 0;
  const bool is_read = ::pread(map, &entry, sizeof entry, static_cast<off_t>(at / 4096 * 8)) == 8;
  ::close(map);
  return is_read ? (entry & ((std::uint64_t{1} << 55U) - 1)) * 4096 + at % 4096 : 0;
}

class Window {
 public:
  explicit Window(volatile std::uint8_t* base) : base_{base} {}
  std::uint32_t read(std::size_t at) const {
    return *reinterpret_cast<volatile std::uint32_t*>(base_ + at);
  }
  void write(std::size_t at, std::uint32_t value) const {
    *reinterpret_cast<volatile std::uint32_t*>(base_ + at) = value;
  }
  void write_address(std::size_t at, std::uint64_t value) const {
    write(at, static_cast<std::uint32_t>(value));
    write(at + 4, static_cast<std::uint32_t>(value >> 32U));
  }

 private:
  volatile std::uint8_t* base_;
};

// Numbers that are the same in every run.
class Chance {
 public:
  explicit Chance(std::uint32_t seed) : drawn_{seed} {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(drawn_()); }
  bool one_in(std::uint32_t many) { return (*this)() % many == 0; }
  std::uint32_t strange_or(std::uint32_t usual) { return one_in(8) ? (*this)() : usual; }

 private:
  std::mt19937 drawn_;
};

std::uint64_t strange_address(Chance& chance, const Rings& rings) {
  switch (chance() % 5) {
    case 0:
      return physical(rings.data);
    case 1:
      return ~std::uint64_t{0} - chance() % 4096;
    case 2:
      return kWindows + chance() % 0x1000;  // the devices' own registers
    case 3:
      return 0;
    default:
      return (std::uint64_t{chance()} << 32U) | chance();
  }
}

void fill(Chance& chance, Rings& rings) {
  for (Descriptor& each : rings.descriptors) {
    each.address = strange_address(chance, rings);
    each.length = chance() % 4 == 0 ? 0xffffffffU : chance() % 8192;
    each.flags = static_cast<std::uint16_t>(chance() % 8);  // next, written by the device, indirect
    each.next = static_cast<std::uint16_t>(chance() % (kDescriptors * 2));
  }
  for (std::size_t at = 2; at < 2 + kDescriptors; ++at) {
    rings.driver[at] = static_cast<std::uint16_t>(chance() % (kDescriptors * 2));
  }
  rings.driver[0] = 0;
  rings.driver[1] = static_cast<std::uint16_t>(chance() % 3 == 0 ? chance() : chance() % 8);
}

void set_queue(const Window& window, Chance& chance, const Rings& rings) {
  const std::uint32_t sizes[] = {0, 1, 3, kDescriptors, window.read(kQueueNumMax), 0x10000};
  window.write(kQueueNum, chance.one_in(2) ? kDescriptors : sizes[chance() % 6]);
  if (window.read(kVersion) == 1) {
    window.write(kQueueAlign, chance.strange_or(4096));
    window.write(kQueuePage,
                 chance.strange_or(static_cast<std::uint32_t>(physical(&rings) / 4096)));
    return;
  }
  window.write_address(kDescLow, chance.one_in(8) ? chance() : physical(rings.descriptors));
  window.write_address(kDriverLow, chance.one_in(8) ? chance() : physical(rings.driver));
  window.write_address(kDeviceLow, chance.one_in(8) ? chance() : physical(rings.device));
  window.write(kQueueReady, 1);
}

void torment(const Window& window, Chance& chance, Rings& rings) {
  window.write(kStatus, 0);
  window.write(kStatus, 3);
  for (std::uint32_t half = 0; half < 2; ++half) {
    window.write(kDriverFeaturesSel, half);
    window.write(kDriverFeatures, half == 1 ? 1 : chance());
  }
  window.write(kStatus, 11);
  window.write(kPageSize, chance.strange_or(4096));
  for (std::uint32_t queue = 0; queue < 4; ++queue) {
    window.write(kQueueSel, chance.one_in(16) ? chance() : queue);
    set_queue(window, chance, rings);
  }
  window.write(kStatus, 15);
  for (int times = 0; times < 8; ++times) {
    fill(chance, rings);
    window.write(kNotify, chance.strange_or(chance() % 4));
    // Another size, while it is in use.
    if (chance.one_in(4)) window.write(kQueueNum, chance() % 512);
  }
}

}  // namespace

int main() {
  (void)::mkdir("/dev", 0755);
  (void)::mkdir("/proc", 0755);
  (void)::mount("proc", "/proc", "proc", 0, nullptr);
  (void)::mount("dev", "/dev", "devtmpfs", 0, nullptr);
  const int memory = ::open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
  void* const mapped = ::mmap(nullptr, kWindow * kMostWindows, PROT_READ | PROT_WRITE, MAP_SHARED,
                              memory, static_cast<off_t>(kWindows));
  // In one piece of the machine's memory.
  const int huge = ::open("/proc/sys/vm/nr_hugepages", O_WRONLY | O_CLOEXEC);
  (void)!::write(huge, "2", 1);
  void* const own = ::mmap(nullptr, std::size_t{2} << 20U, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
  if (mapped != MAP_FAILED && own != MAP_FAILED) {
    Rings& rings = *static_cast<Rings*>(own);
    std::memset(&rings, 0, sizeof rings);
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
      for (std::size_t number = 0; number < kMostWindows; ++number) {
        const Window window{static_cast<std::uint8_t*>(mapped) + number * kWindow};
        if (window.read(0) != kMagic || window.read(kDevice) == 0) continue;
        Chance chance{seed * 100 + static_cast<std::uint32_t>(number)};
        torment(window, chance, rings);
      }
    }
  }
  (void)::reboot(RB_AUTOBOOT);
  for (;;) ::pause();
}
