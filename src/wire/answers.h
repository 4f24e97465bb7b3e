// SPDX-License-Identifier: Apache-2.0
// What a node answers in API v1: values, and their JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "record/denial.h"
#include "record/enforcement.h"
#include "record/verdict.h"

namespace cordon::wire {

struct SandboxAnswer {
  std::string id;
  std::string tenant;
  bool is_living = true;
  WallTime created{};
  WallTime expires{};
  std::map<std::string, std::string> labels;
  std::string isolation;
  Enforcement enforcement;
  std::optional<Verdict> verdict;  // of one that has ended
};
std::string to_json(const SandboxAnswer& sandbox);

struct ListAnswer {
  std::vector<SandboxAnswer> sandboxes;
  std::string next;  // give it back as `after` for what follows; empty: that was all
};
std::string to_json(const ListAnswer& list);

// How a process has ended.
struct ExitAnswer {
  bool by_signal = false;
  std::uint32_t value = 0;  // the code, or the signal's number
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t most_memory = 0;
  friend bool operator==(const ExitAnswer&, const ExitAnswer&) = default;
};

struct ProcessAnswer {
  std::uint32_t number = 0;
  std::string command;  // its first word
  std::uint32_t pid = 0;
  bool has_terminal = false;
  std::string failure;  // why it never ran; empty: it did
  std::optional<ExitAnswer> exit;
  std::uint64_t out = 0;  // bytes that it has written to standard output
  std::uint64_t err = 0;
  std::uint64_t out_from = 0;  // the first of them that was not acknowledged
  std::uint64_t err_from = 0;
};
std::string to_json(const ProcessAnswer& process);
std::string to_json(const std::vector<ProcessAnswer>& processes);

// One that was run to its end, with what it wrote.
struct ExecAnswer {
  ProcessAnswer process;
  std::string out;
  std::string err;
  bool is_late = false;  // its time was over
  bool is_cut = false;   // it wrote more than is collected
};
std::string to_json(const ExecAnswer& exec);

struct Use {
  std::uint64_t wall_milliseconds = 0;
  std::optional<std::uint64_t> cpu_microseconds;
  std::optional<std::uint64_t> memory_peak;
  std::optional<std::uint64_t> pids_peak;
};

struct RunAnswer {
  std::string id;
  Verdict verdict;
  std::string failure;  // why nothing ran; empty: it did
  std::string out;
  std::string err;
  Use use;
  Enforcement enforcement;
  std::vector<Denial> denials;
};
std::string to_json(const RunAnswer& run);

// One line of a stream of output, with its newline. `offset`: of the first byte.
std::string output_line(bool is_error, std::uint64_t offset, std::string_view bytes);
std::string output_end_line(bool is_error, std::uint64_t offset);
std::string exit_line(const ProcessAnswer& process);

struct FileAnswer {
  std::string name;
  std::string type;  // "file", "directory", "link", "other"
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::uint64_t modified = 0;  // nanoseconds since 1970
  std::string target;          // of a link
};
std::string to_json(const FileAnswer& file);
std::string to_json(const std::vector<FileAnswer>& files, bool more);

}  // namespace cordon::wire
