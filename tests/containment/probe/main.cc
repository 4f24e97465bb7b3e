// SPDX-License-Identifier: Apache-2.0
// probe ROW [--word value]... | probe --batch ROW,ROW,... [--word value]... | probe --list |
// probe --facts
//
// Tries the hostile act of a row of the containment matrix, only far enough to see whether it is
// refused, and prints one line of JSON for each row. Exit: 0 refused, 1 got through, 2 broken
// (something that must work does not), 3 cannot be judged here.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

namespace cordon::probe {
namespace {

constexpr unsigned kRowSeconds = 60;

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const auto part :
         {read_rows(), write_rows(), file_attribute_rows(), process_rows(), join_rows(),
          privilege_rows(), proc_rows(), device_rows(), mount_rows(), syscall_rows(), socket_rows(),
          sweep_rows(), descriptor_rows(), resource_rows(), memory_rows(), ipc_rows(),
          terminal_rows(), persistence_rows()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
    return all;
  }();
  return rows;
}

std::vector<OpenedAtStart> g_opened;

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      return 0;
    case Outcome::succeeded:
      return 1;
    case Outcome::broken:
      return 2;
    case Outcome::skipped:
    case Outcome::vacuous:
      return 3;
  }
  return 2;
}

void say(const std::string& line) {
  const std::string whole = line + "\n";
  std::size_t done = 0;
  while (done < whole.size()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, whole.data() + done, whole.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

int run_row(const Row& row, const Words& words) {
  Findings findings;
  row.act(words, findings);
  say(findings.json(row.id));
  return exit_code(findings.outcome());
}

// Each row of a batch in a process of its own: what one does to itself is not the next one's.
int run_batched(const Row& row, const Words& words) {
  const pid_t child = ::fork();
  if (child < 0) {
    Findings findings;
    findings.skip("fork: " + name_of_error(errno));
    say(findings.json(row.id));
    return 3;
  }
  if (child == 0) {
    ::alarm(static_cast<unsigned>(words.number("patience", kRowSeconds)));
    ::_exit(run_row(row, words));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  Findings findings;
  findings.control("row ended by itself", false, "signal " + std::to_string(WTERMSIG(status)));
  say(findings.json(row.id));
  return 2;
}

const Row* find_row(std::string_view id) {
  const auto found = std::find_if(all_rows().begin(), all_rows().end(),
                                  [&](const Row& row) { return row.id == id; });
  return found != all_rows().end() ? &*found : nullptr;
}

int run(std::span<char* const> arguments) {
  const Words words{arguments};
  if (words.has("list")) {
    for (const Row& row : all_rows()) say(std::string{row.id});
    return 0;
  }
  // Started as a set-id program by row C078: who it has become is all it says.
  if (words.has("whoami")) {
    say(std::to_string(::geteuid()) + " " + std::to_string(::getegid()));
    return 0;
  }
  if (words.has("facts")) {
    for (const std::string& fact : facts()) say(fact);
    return 0;
  }
  const bool batch = words.has("batch");
  const std::vector<std::string> wanted =
      batch ? words.list("batch")
            : std::vector<std::string>{arguments.empty() ? "" : std::string{arguments[0]}};
  int worst = 0;
  for (const std::string& id : wanted) {
    const Row* const row = find_row(id);
    if (row == nullptr) {
      (void)std::fprintf(stderr, "probe: no row %s\n", id.c_str());
      return 64;
    }
    worst = std::max(worst, batch ? run_batched(*row, words) : run_row(*row, words));
  }
  return worst;
}

}  // namespace

const std::vector<OpenedAtStart>& opened_at_start() { return g_opened; }

// By fstat, not by /proc: a sandbox without /proc must not look as if nothing were open.
void note_opened_at_start() {
  const long limit = std::min<long>(::sysconf(_SC_OPEN_MAX), 65536);
  for (int fd = 0; fd < limit; ++fd) {
    struct stat about{};
    if (::fstat(fd, &about) != 0) continue;
    std::array<char, 256> link{};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    (void)!::readlink(path.c_str(), link.data(), link.size() - 1);
    g_opened.push_back({fd, link.data(), about.st_mode});
  }
}

}  // namespace cordon::probe

int main(int argc, char** argv) {
  cordon::probe::note_opened_at_start();
  return cordon::probe::run({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)});
}
