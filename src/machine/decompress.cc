// SPDX-License-Identifier: Apache-2.0
#include "machine/decompress.h"

#include <archive.h>
#include <array>
#include <memory>

namespace cordon::machine {
namespace {

struct Free {
  void operator()(archive* reader) const noexcept { ::archive_read_free(reader); }
};

}  // namespace

Result<std::string> decompress(std::string_view bytes, std::size_t most) {
  const std::unique_ptr<archive, Free> reader{::archive_read_new()};
  if (!reader) return Error{Errc::exhausted, "libarchive"};
  const auto broken = [&] {
    const char* const why = ::archive_error_string(reader.get());
    return Error{Errc::invalid, why != nullptr ? why : "not readable"};
  };
  ::archive_read_support_filter_all(reader.get());
  ::archive_read_support_format_raw(reader.get());
  if (::archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return broken();
  }
  archive_entry* entry = nullptr;
  if (::archive_read_next_header(reader.get(), &entry) != ARCHIVE_OK) return broken();
  std::string out;
  std::array<char, 65536> piece{};
  for (;;) {
    const la_ssize_t got = ::archive_read_data(reader.get(), piece.data(), piece.size());
    // A kernel's payload ends with a number of its own, which is no frame.
    if (got < 0 && out.empty()) return broken();
    if (got <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(got));
    if (out.size() > most) return Error{Errc::exhausted, "too large"};
  }
}

}  // namespace cordon::machine
