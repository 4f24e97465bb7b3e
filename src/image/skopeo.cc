// SPDX-License-Identifier: Apache-2.0
#include "image/skopeo.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "image/tool.h"
#include "os/directory.h"
#include "os/file.h"

namespace cordon::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSkopeo = "/usr/bin/skopeo";
constexpr std::uint32_t kNobody = 65534;

// What a registry of this machine answers goes over no wire.
bool is_of_this_machine(std::string_view source) {
  constexpr std::string_view kKind = "docker://";
  if (!source.starts_with(kKind)) return false;
  const std::string_view host = source.substr(kKind.size());
  return host.starts_with("127.") || host.starts_with("localhost:") || host.starts_with("[::1]");
}

std::vector<std::string> words_of(const std::string& source, const std::string& into) {
  std::vector<std::string> words;
  if (::geteuid() == 0) {
    words = {"setpriv",        "--reuid=65534",       "--regid=65534", "--clear-groups",
             "--no-new-privs", "--bounding-set=-all", kSkopeo};
  } else {
    words = {"skopeo"};
  }
  // Whom to trust is the host's policy, where it has one.
  if (!fs::exists("/etc/containers/policy.json")) words.emplace_back("--insecure-policy");
  words.insert(words.end(), {"--override-os", "linux", "copy", "--quiet"});
  if (is_of_this_machine(source)) words.emplace_back("--src-tls-verify=false");
  words.insert(words.end(), {"--", source, "oci:" + into + ":image"});
  return words;
}

}  // namespace

Result<FetchedLayout> FetchedLayout::fetch(const std::string& source) {
  if (!fs::exists(kSkopeo)) {
    return Error{Errc::unavailable, "images are fetched by skopeo, which is not installed"};
  }
  std::string place = (fs::temp_directory_path() / "cordon-image-XXXXXX").string();
  if (::mkdtemp(place.data()) == nullptr) return Error::from_errno("mkdtemp").with(place);
  FetchedLayout fetched{place};
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    TRY(const os::Fd directory, os::openat(os::at_cwd(), place.c_str(), O_RDONLY | O_DIRECTORY));
    TRY_DO(os::fchown(directory, kNobody, kNobody));
  }
  Status done = run_tool({.program = is_root ? "/usr/bin/setpriv" : kSkopeo,
                          .arguments = words_of(source, fetched.path()),
                          .environment = {"PATH=/usr/bin:/bin", "HOME=" + place, "TMPDIR=" + place,
                                          "XDG_RUNTIME_DIR=" + place}});
  if (!done) return std::move(done).error().with(is_root ? source + " (read as nobody)" : source);
  return fetched;
}

FetchedLayout::~FetchedLayout() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace cordon::image
