// SPDX-License-Identifier: Apache-2.0
// bench_audit_writer DIRECTORY SECONDS: records of 200 bytes a second into an audit log, one at a
// time and many at a time, beside plain writes of as many bytes; all with a disk that is asked
// every 50 ms. Prints JSON.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "audit/log.h"
#include "base/clock.h"
#include "os/file.h"
#include "os/positioned_file.h"

namespace {

using namespace cordon;
namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEvery{50};
constexpr std::size_t kMany = 64;
constexpr std::size_t kLine = 200;

[[noreturn]] void give_up(const Error& error) {
  static_cast<void>(std::fprintf(stderr, "bench_audit_writer: %s\n", error.text().c_str()));
  std::exit(1);
}
void must(const Status& done) {
  if (!done) give_up(done.error());
}
os::Fd opened(const fs::path& path) {
  auto fd = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!fd) give_up(fd.error());
  return *std::move(fd);
}

// Records a second, while another thread has them brought to the disk.
double rate(std::chrono::milliseconds length, const std::function<std::size_t()>& write,
            const std::function<void()>& sync) {
  std::atomic<bool> ends = false;
  std::jthread disk{[&] {
    while (!ends) {
      std::this_thread::sleep_for(kEvery);
      sync();
    }
  }};
  const auto begin = Steady::now();
  std::size_t count = 0;
  while (Steady::now() - begin < length) {
    for (int i = 0; i < 16; ++i) count += write();
  }
  const std::chrono::duration<double> took = Steady::now() - begin;
  ends = true;
  return static_cast<double>(count) / took.count();
}

struct Bench {
  fs::path base;
  std::chrono::milliseconds length;
  SystemClock clock{};
  int next = 0;

  fs::path fresh() {
    fs::path made = base / std::to_string(next++);
    fs::create_directory(made);
    return made;
  }

  double plain(std::size_t many) {
    const fs::path place = fresh();
    auto file =
        os::openat(opened(place), "plain", O_WRONLY | O_CREAT | O_APPEND, S_IRUSR | S_IWUSR);
    if (!file) give_up(file.error());
    const std::string lines(kLine * many, 'x');
    const double got = rate(
        length,
        [&] {
          must(os::write_all(*file, lines));
          return many;
        },
        [&] { must(os::sync_data(*file)); });
    fs::remove_all(place);
    return got;
  }

  double log(std::size_t many) {
    const fs::path place = fresh();
    auto log = audit::Log::open(opened(place), clock);
    if (!log) give_up(log.error());
    const audit::Subject subject{.tenant = {}, .sandbox = "k7f3"};
    const std::vector<AuditEvent> events(many, PolicyAccepted{"0123456789abcdef"});
    const double got = rate(
        length,
        [&] {
          must((*log)->append(subject, events));
          return many;
        },
        [&] { must((*log)->sync()); });
    fs::remove_all(place);
    return got;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    static_cast<void>(std::fputs("usage: bench_audit_writer DIRECTORY SECONDS\n", stderr));
    return 2;
  }
  Bench bench{.base = argv[1], .length = std::chrono::milliseconds{1000 * std::stoi(argv[2])}};
  const double plain_one = bench.plain(1);
  const double log_one = bench.log(1);
  const double plain_many = bench.plain(kMany);
  const double log_many = bench.log(kMany);
  static_cast<void>(
      std::printf("{\"plain_one\":%.0f,\"log_one\":%.0f,\"plain_many\":%.0f,\"log_many\":%.0f}\n",
                  plain_one, log_one, plain_many, log_many));
  return 0;
}
