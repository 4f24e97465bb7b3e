// SPDX-License-Identifier: Apache-2.0
#include "egress/wiping_heap.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

constexpr std::size_t kSize = 256;
// The allocator keeps notes of its own at the beginning of what it has back.
constexpr std::size_t kNotes = 64;

// What lies there now, whoever owns it: read past the language and its sanitizers.
std::string bytes_at(std::uintptr_t address) {
  std::string bytes(kSize, '?');
  const int file = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(address));
  ::close(file);
  return got == static_cast<ssize_t>(kSize) ? bytes : std::string{};
}

// Whether any of it is left after `give_back` was called; true of all where nobody wipes.
bool is_left(std::uintptr_t address, const std::function<void()>& give_back) {
  EXPECT_NE(bytes_at(address).find("SSSS", kNotes), std::string::npos);
  give_back();
  return bytes_at(address).find("SSSS", kNotes) != std::string::npos;
}

struct alignas(128) Aligned {
  char text[kSize];
};

// One of each way in which memory is given back.
std::vector<std::pair<const char*, bool>> all_ways() {
  std::vector<std::pair<const char*, bool>> ways;
  const auto address = [](const void* memory) { return std::bit_cast<std::uintptr_t>(memory); };
  const std::string secret(kSize, 'S');

  auto text = std::make_optional<std::string>(secret);
  ways.emplace_back("text", is_left(address(text->data()), [&] { text.reset(); }));
  auto grown = std::string(secret);
  ways.emplace_back("growth",
                    is_left(address(grown.data()), [&] { grown.append(kSize * 8, 'x'); }));
  auto array = std::make_unique<char[]>(kSize);
  std::ranges::copy(secret, array.get());
  ways.emplace_back("array", is_left(address(array.get()), [&] { array.reset(); }));
  auto aligned = std::make_unique<Aligned>();
  std::ranges::copy(secret, aligned->text);
  ways.emplace_back("aligned", is_left(address(aligned.get()), [&] { aligned.reset(); }));
  void* const quiet = ::operator new(kSize, std::nothrow);
  std::ranges::copy(secret, static_cast<char*>(quiet));
  ways.emplace_back("quiet", is_left(address(quiet), [&] { ::operator delete(quiet); }));
  return ways;
}

TEST(WipingHeap, OverwritesWhatIsGivenBackWhileItLives) {
  const WipingHeap wiping;
  for (const auto& [way, left] : all_ways()) EXPECT_FALSE(left) << way;
}

TEST(WipingHeap, LivesAsLongAsTheLastOfThem) {
  const WipingHeap outer;
  {
    const WipingHeap inner;
  }
  for (const auto& [way, left] : all_ways()) EXPECT_FALSE(left) << way;
}

TEST(WipingHeap, CostsNothingAtOtherTimes) {
  for (const auto& [way, left] : all_ways()) EXPECT_TRUE(left) << way;
}

}  // namespace
}  // namespace cordon::egress
