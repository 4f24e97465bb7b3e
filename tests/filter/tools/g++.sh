# SPDX-License-Identifier: Apache-2.0
# needs: g++
cat >a.cc <<'X'
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>
int main() {
  std::mutex m;
  std::condition_variable c;
  bool go = false;
  std::thread t{[&] {
    std::unique_lock<std::mutex> l{m};
    c.wait(l, [&] { return go; });
    std::cout << "made\n";
  }};
  { std::lock_guard<std::mutex> l{m}; go = true; }
  c.notify_one();
  t.join();
}
X
g++ -std=c++17 -pthread -o a a.cc
test "$(./a)" = made
echo done
