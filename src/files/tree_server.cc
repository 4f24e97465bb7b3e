// SPDX-License-Identifier: Apache-2.0
#include "files/tree_server.h"

#include <cerrno>
#include <fcntl.h>

namespace cordon::files {

Status TreeServer::dispatch(Request& request, Reply& reply) {
  switch (request.head.opcode) {
    case FUSE_INIT:
      return init(request, reply);
    case FUSE_LOOKUP:
      return look_up(request, reply);
    case FUSE_GETATTR:
      return get_attributes(request, reply);
    case FUSE_SETATTR:
      return set_attributes(request, reply);
    case FUSE_READLINK:
      return read_link(request, reply);
    case FUSE_SYMLINK:
      return make_link(request, reply);
    case FUSE_MKNOD:
      return make_node(request, reply);
    case FUSE_MKDIR:
      return make_directory(request, reply);
    case FUSE_UNLINK:
      return remove(request, 0);
    case FUSE_RMDIR:
      return remove(request, AT_REMOVEDIR);
    case FUSE_RENAME: {
      const auto how = request.body.take<fuse_rename_in>();
      return how ? rename(how->newdir, 0, request) : senseless();
    }
    case FUSE_RENAME2: {
      const auto how = request.body.take<fuse_rename2_in>();
      return how ? rename(how->newdir, how->flags, request) : senseless();
    }
    case FUSE_LINK:
      return link(request, reply);
    case FUSE_CREATE:
      return create(request, reply);
    case FUSE_OPEN:
      return open(request, reply);
    case FUSE_READ:
      return read(request, reply);
    case FUSE_WRITE:
      return write(request, reply);
    case FUSE_STATFS:
      return status_of_system(request, reply);
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
      return release(request);
    case FUSE_FSYNC:
    case FUSE_FSYNCDIR:
      return synchronize(request);
    case FUSE_DESTROY:
      return {};
    case FUSE_OPENDIR:
      return open_directory(request, reply);
    case FUSE_READDIR:
      return read_directory(request, reply, false);
    case FUSE_READDIRPLUS:
      return read_directory(request, reply, true);
    case FUSE_FALLOCATE:
      return allocate(request);
    case FUSE_LSEEK:
      return seek(request, reply);
    default:
      // A kernel does not ask for it again: also FUSE_FLUSH, for nothing waits for a close here.
      return Error::from_errno("request", ENOSYS);
  }
}

std::optional<int> TreeServer::answer(Request& request, Reply& reply) {
  switch (request.head.opcode) {
    case FUSE_FORGET:
      if (const auto how = request.body.take<fuse_forget_in>()) {
        nodes_.forget(request.head.nodeid, how->nlookup);
      }
      return std::nullopt;
    case FUSE_BATCH_FORGET:
      forget_many(request);
      return std::nullopt;
    case FUSE_INTERRUPT:  // everything is answered in its turn, and soon
      return std::nullopt;
    default:
      break;
  }
  const Status done = dispatch(request, reply);
  if (done) return 0;
  const int number = done.error().cause().value();
  return number > 0 ? number : EIO;
}

}  // namespace cordon::files
