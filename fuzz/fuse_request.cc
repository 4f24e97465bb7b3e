// SPDX-License-Identifier: Apache-2.0
// Any bytes as requests of a guest's kernel, in front of a small tree: whatever is asked, nothing
// beside the tree is read or changed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "files/request.h"
#include "files/tree_server.h"
#include "os/file.h"
#include "promise.h"

namespace {

namespace fs = std::filesystem;
using cordon::fuzz::broken;

constexpr const char* kBeside = "nobody asked for this";

// A place with the tree in it, and beside it a file that no request may reach.
fs::path make_place() {
  std::string name = (fs::temp_directory_path() / "cordon-fuse-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  std::ofstream{fs::path{name} / "beside"} << kBeside;
  return name;
}

void make_tree(const fs::path& tree) {
  fs::create_directories(tree / "d");
  std::ofstream{tree / "f"} << "inside";
  fs::create_symlink("../beside", tree / "out");
  fs::create_directory_symlink("..", tree / "up");
}

void check_beside(const fs::path& place) {
  std::ifstream in{place / "beside"};
  std::string text;
  std::getline(in, text);
  const auto count = std::distance(fs::directory_iterator{place}, fs::directory_iterator{});
  if (text != kBeside || count != 2) broken("nothing beside the tree is changed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fs::path place = make_place();
  make_tree(place / "tree");
  {
    auto root =
        cordon::os::openat(cordon::os::at_cwd(), (place / "tree").c_str(), O_PATH | O_DIRECTORY);
    if (!root) std::abort();
    cordon::files::TreeServer server{*std::move(root)};
    cordon::files::RequestCutter cutter;
    cutter.push(std::as_bytes(std::span{data, size}));
    for (;;) {
      auto next = cutter.next();
      if (!next) break;
      auto request = *std::move(next);
      if (!request) break;
      cordon::files::Reply reply;
      const auto error = server.answer(*request, reply);
      const auto bytes = reply.finish(1, error.value_or(0));
      const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      if (text.find(kBeside) != std::string_view::npos) broken("nothing beside the tree is read");
    }
  }
  check_beside(place);
  std::error_code ignored;
  fs::remove_all(place, ignored);
  return 0;
}
