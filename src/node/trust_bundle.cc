// SPDX-License-Identifier: Apache-2.0
#include "node/trust_bundle.h"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "os/directory.h"
#include "os/file.h"
#include "os/own_directory.h"
#include "os/system_bundles.h"

namespace cordon::node {
namespace {

constexpr std::size_t kMostBundle = std::size_t{16} << 20U;
// Longer than any authority holds.
constexpr std::chrono::hours kOld{25};

// What runs that were killed have left.
void remove_old(const std::string& directory) {
  namespace fs = std::filesystem;
  const auto old = fs::file_time_type::clock::now() - kOld;
  std::error_code error;
  for (fs::directory_iterator at{directory, error}, end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const auto written = fs::last_write_time(at->path(), ignored);
    const bool ours = at->path().extension() == ".pem" && at->is_regular_file(ignored);
    if (ours && !ignored && written < old) fs::remove(at->path(), ignored);
  }
}

std::string bundles_below(const std::string& state) { return state + "/authorities"; }
std::string bundle_name(const SandboxId& id) { return id.text() + ".pem"; }

}  // namespace

Result<TrustBundle> TrustBundle::write(const std::string& state, const SandboxId& id,
                                       const std::string& certificate) {
  std::string system;
  std::string text;
  for (const char* place : os::kSystemBundles) {
    auto file = os::openat(os::at_cwd(), place, O_RDONLY);
    if (!file) continue;
    auto read = os::read_all(*file, kMostBundle);
    if (!read) continue;
    system = place;
    text = *std::move(read);
    break;
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += certificate;
  const std::string directory = bundles_below(state);
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  TRY(const os::Fd dir, os::open_own_directory(directory));
  remove_old(directory);
  const std::string name = bundle_name(id);
  // The workload reads it under an id of its own.
  TRY_DO(os::create_file(dir, name.c_str(), text, 0644));
  return TrustBundle{directory + "/" + name, std::move(system)};
}

TrustBundle TrustBundle::adopt(const std::string& state, const SandboxId& id) {
  return {bundles_below(state) + "/" + bundle_name(id), {}};
}

TrustBundle::TrustBundle(TrustBundle&& other) noexcept
    : path_{std::exchange(other.path_, {})}, system_{std::move(other.system_)} {}

TrustBundle::~TrustBundle() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace cordon::node
