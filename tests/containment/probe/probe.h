// SPDX-License-Identifier: Apache-2.0
// What every hostile act is made of: its words, the calls it tries, and what it found.
//
// Plain code without our modules: the probe judges them, and it must run wherever a payload runs.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cordon::probe {

// What a call gave: `value` and, where it failed, `error`.
struct Answer {
  long value = -1;
  int error = 0;

  bool failed() const noexcept { return value == -1; }
};

Answer raw_call(long number, std::span<const long> arguments);

// A system call by its number. Arguments may be numbers or pointers.
template <class... Args>
Answer call(long number, Args... args) {
  const auto word = [](auto arg) {
    if constexpr (std::is_pointer_v<decltype(arg)>) {
      return reinterpret_cast<long>(arg);
    } else if constexpr (std::is_null_pointer_v<decltype(arg)>) {
      return 0L;
    } else {
      return static_cast<long>(arg);
    }
  };
  const std::initializer_list<long> words = {word(args)..., 0L};
  return raw_call(number, {words.begin(), words.size()});
}

// The answer of a libc function that returned `value` just now.
Answer answer(long value);

// "EPERM", or the value where the call came through.
std::string text_of(const Answer& answer);
std::string name_of_error(int error);

// The words after the row's id, each as `--name value`; a flag's value is "1".
class Words {
 public:
  explicit Words(std::span<char* const> words);

  std::string get(const std::string& name, const std::string& fallback = "") const;
  long number(const std::string& name, long fallback) const;
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  // The value split at commas; empty where there is none.
  std::vector<std::string> list(const std::string& name) const;
  // A secret that must not stand in our own command line: it is given backwards.
  std::string mirrored(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

enum class Outcome { refused, succeeded, skipped, vacuous, broken };

// One row's checks. The row is refused only if every check is and every control works.
class Findings {
 public:
  // The act must have been refused with one of `errors`: any other error came from further inside.
  void refused(const std::string& act, const Answer& got, std::initializer_list<int> errors);
  // The same act with arguments that mean something: refused by whichever fence is asked first.
  // With a layer off a row that has attempts is judged by them alone: by whether the act can be
  // done, and not by who answers.
  void attempt(const std::string& act, const Answer& got, std::initializer_list<int> errors);
  // A fact that must hold; `seen` says what was found.
  void holds(const std::string& fact, bool ok, const std::string& seen);
  // What must keep working beside the refusal: where it does not, the row proves nothing.
  void control(const std::string& what, bool works, const std::string& seen);
  void skip(const std::string& why);
  void vacuous(const std::string& why);

  Outcome outcome() const noexcept;
  std::string json(std::string_view row) const;

 private:
  std::string detail() const;
  struct Check {
    std::string name;
    std::string seen;
    bool ok;
    bool whole = false;
  };
  std::vector<Check> checks_;
  std::vector<std::string> broken_;
  std::string skipped_;
  std::string vacuous_;
};

using Act = void (*)(const Words&, Findings&);
struct Row {
  std::string_view id;
  Act act;
};

// The rows of each file.
std::span<const Row> read_rows();
std::span<const Row> write_rows();
std::span<const Row> file_attribute_rows();
std::span<const Row> process_rows();
std::span<const Row> join_rows();
std::span<const Row> privilege_rows();
std::span<const Row> proc_rows();
std::span<const Row> device_rows();
std::span<const Row> mount_rows();
std::span<const Row> syscall_rows();
std::span<const Row> socket_rows();
std::span<const Row> sweep_rows();
std::span<const Row> descriptor_rows();
std::span<const Row> resource_rows();
std::span<const Row> memory_rows();
std::span<const Row> ipc_rows();
std::span<const Row> terminal_rows();
std::span<const Row> persistence_rows();

// All that can be told of the fences from inside, a line each: two runs under the same fences, in
// the same workspace, say the same.
std::vector<std::string> facts();

// What was open when the program began; taken by main before anything else.
struct OpenedAtStart {
  int fd;
  std::string link;
  unsigned mode;
};
const std::vector<OpenedAtStart>& opened_at_start();
void note_opened_at_start();

std::string json_text(std::string_view text);
// The parts in a row.
std::string joined(std::initializer_list<std::string_view> parts);

}  // namespace cordon::probe
