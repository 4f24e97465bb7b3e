// SPDX-License-Identifier: Apache-2.0
#include "files/serve.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "files/request.h"
#include "files/tree_server.h"
#include "os/file.h"

namespace cordon::files {

Status serve(const os::Fd& stream, os::Fd root, SetIds set_ids, std::uint64_t believed) {
  ::umask(0);  // the guest's kernel has taken its caller's off
  TreeServer tree{std::move(root), set_ids, believed};
  RequestCutter cutter;
  std::vector<std::byte> piece(kLongestRequest);
  for (;;) {
    TRY(auto request, cutter.next());
    if (request) {
      Reply reply;
      const auto error = tree.answer(*request, reply);
      if (error) {
        TRY_DO(os::write_all(stream, as_text(reply.finish(request->head.unique, *error))));
      }
      continue;
    }
    const ssize_t got = ::read(stream.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read");
    if (got == 0) return {};
    cutter.push(std::span{piece}.first(static_cast<std::size_t>(got)));
  }
}

}  // namespace cordon::files
