// SPDX-License-Identifier: Apache-2.0
#include "cli/replaced_file.h"

#include <fcntl.h>

#include "base/id.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/random.h"

namespace cordon::cli {

Result<ReplacedFile> ReplacedFile::open(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  if (name.empty()) return Error{Errc::invalid, "not a file"};
  TRY(os::Fd dir, os::openat(os::at_cwd(), parent.c_str(), O_PATH | O_DIRECTORY));
  return ReplacedFile{std::move(dir), name};
}

Status ReplacedFile::write(std::string_view bytes, unsigned mode) const {
  // A name that nobody could know, made anew.
  TRY(const auto random, os::random_bytes<10>());
  const std::string part = ".cordon-part-" + base32(random);
  Status done = os::create_file(dir_, part.c_str(), bytes, mode);
  if (done) done = os::renameat(dir_, part.c_str(), dir_, name_.c_str(), os::Replace::allow);
  if (!done) static_cast<void>(os::unlinkat(dir_, part.c_str()));
  return done;
}

}  // namespace cordon::cli
