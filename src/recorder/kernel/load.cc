// SPDX-License-Identifier: Apache-2.0
#include "recorder/kernel/load.h"

#include <bpf/libbpf.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <string>

#include "os/fd.h"

namespace cordon::recorder {
namespace {

// clang-format off
constexpr unsigned char kObject[] = {
#embed CORDON_RECORDER
};
// clang-format on

// The first of what it warns of: the rest follows from that.
std::string& complaint() {
  static std::string text;
  return text;
}

int note(libbpf_print_level level, const char* format, std::va_list values) {
  if (level != LIBBPF_WARN || !complaint().empty()) return 0;
  char line[256];
  // NOLINTNEXTLINE(cert-err33-c): a text that is cut is no worse
  std::vsnprintf(line, sizeof line, format, values);
  complaint() = line;
  while (complaint().ends_with('\n')) complaint().pop_back();
  return 0;
}

Error failed(std::string_view step) {
  const std::string why = complaint().empty() ? "" : " (" + complaint() + ")";
  return Error::from_errno(std::string{step}).with("eBPF" + why);
}

Result<os::Fd> own(int number) {
  os::Fd fd{::fcntl(number, F_DUPFD_CLOEXEC, 3)};
  if (!fd) return failed("duplicate");
  return fd;
}

struct Close {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

Result<os::Fd> map_of(bpf_object& object, const char* name) {
  const bpf_map* const map = bpf_object__find_map_by_name(&object, name);
  if (map == nullptr) return failed(name);
  return own(bpf_map__fd(map));
}

Result<os::Fd> attach(bpf_object& object, const char* name) {
  const bpf_program* const program = bpf_object__find_program_by_name(&object, name);
  if (program == nullptr) return failed(name);
  bpf_link* const link = bpf_program__attach(program);
  if (link == nullptr) return failed(name);
  auto attached = own(bpf_link__fd(link));
  bpf_link__destroy(link);
  return attached;
}

}  // namespace

Result<LoadedRecorder> load_recorder(std::uint32_t ring_bytes) {
  libbpf_set_print(note);
  const bpf_object_open_opts options{.sz = sizeof options, .object_name = "cordon"};
  const std::unique_ptr<bpf_object, Close> object{
      bpf_object__open_mem(kObject, sizeof kObject, &options)};
  if (!object) return failed("read the program");
  bpf_map* const ring = bpf_object__find_map_by_name(object.get(), "ring");
  if (ring == nullptr || bpf_map__set_max_entries(ring, ring_bytes) != 0) return failed("ring");
  if (bpf_object__load(object.get()) != 0) return failed("load");
  LoadedRecorder loaded;
  TRY(loaded.watched, map_of(*object, ".bss"));
  TRY(loaded.ring, map_of(*object, "ring"));
  TRY(loaded.exec, attach(*object, "cordon_exec"));
  TRY(loaded.calls, attach(*object, "cordon_call"));
  TRY(loaded.ends, attach(*object, "cordon_exit"));
  return loaded;
}

}  // namespace cordon::recorder
