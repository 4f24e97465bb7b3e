// SPDX-License-Identifier: Apache-2.0
// Any bytes as a form with files: what comes out does not depend on the pieces in which it came.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/e2b/multipart.h"
#include "promise.h"

namespace {

using cordon::api::e2b::Multipart;
using cordon::fuzz::broken;

// All that it held, data of one part in one piece; nothing: it was refused, or breaks off.
std::vector<std::string> read(std::string_view body, std::size_t piece) {
  auto form = Multipart::of_type("multipart/form-data; boundary=B");
  if (!form) broken("a form has a boundary");
  std::vector<std::string> all;
  for (;;) {
    auto next = form->next();
    if (!next) return {"refused"};
    std::optional<Multipart::Event> event = *std::move(next);
    if (!event) {
      if (form->is_over() && body.empty()) return all;
      if (body.empty()) return {"refused"};
      form->push(body.substr(0, piece));
      body.remove_prefix(std::min(piece, body.size()));
      continue;
    }
    if (const auto* part = std::get_if<Multipart::Part>(&*event)) {
      all.push_back("part " + part->name + "\n" + part->file_name.value_or("-"));
      all.emplace_back();
    } else if (const auto* bytes = std::get_if<Multipart::Data>(&*event)) {
      if (bytes->bytes.empty()) broken("a piece of data has bytes");
      all.back() += bytes->bytes;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body{reinterpret_cast<const char*>(data), size};
  const auto whole = read(body, body.size() + 1);
  for (const std::size_t piece : {1U, 3U, 7U}) {
    if (read(body, piece) != whole) broken("a form says the same in pieces of any size");
  }
  return 0;
}
