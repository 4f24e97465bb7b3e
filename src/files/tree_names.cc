// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/fs.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "files/tree_server.h"

namespace cordon::files {
namespace {

Result<std::string> take_name(Request& request) {
  const auto text = request.body.take_text();
  if (!text) return senseless();
  if (text->size() > NAME_MAX) return Error::from_errno("name", ENAMETOOLONG);
  if (!is_name(*text)) return senseless();
  return std::string{*text};
}

}  // namespace

Status TreeServer::tell_new(NodeId parent, std::string_view name, const os::Fd& directory,
                            Reply& reply) {
  struct stat st{};
  if (::fstatat(directory.get(), std::string{name}.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fstatat");
  }
  TRY(const fuse_entry_out entry, entry_of(parent, name, st));
  reply.add(entry);
  return {};
}

// As if each had been looked up once.
void TreeServer::number_first_names() {
  const auto root = nodes_.open_directory(kRoot);
  if (!root) return;
  for (const char* const name : kFirstNames) {
    struct stat st{};
    if (::fstatat(root->get(), name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
      static_cast<void>(entry_of(kRoot, name, st));
    }
  }
}

Status TreeServer::look_up(Request& request, Reply& reply) {
  TRY(const std::string name, take_name(request));
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  return tell_new(request.head.nodeid, name, directory, reply);
}

Status TreeServer::read_link(Request& request, Reply& reply) {
  TRY(const Place place, nodes_.place_of(request.head.nodeid));
  std::array<char, PATH_MAX> target{};
  const ssize_t length =
      ::readlinkat(place.directory.get(), place.name.c_str(), target.data(), target.size());
  if (length < 0) return Error::from_errno("readlinkat");
  reply.add(std::as_bytes(std::span{target}.first(static_cast<std::size_t>(length))));
  return {};
}

Status TreeServer::make_link(Request& request, Reply& reply) {
  TRY(const std::string name, take_name(request));
  const auto target = request.body.take_text();
  if (!target) return senseless();
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  if (::symlinkat(std::string{*target}.c_str(), directory.get(), name.c_str()) != 0) {
    return Error::from_errno("symlinkat");
  }
  return tell_new(request.head.nodeid, name, directory, reply);
}

// Devices are refused by who serves, whatever the host's kernel would say.
Status TreeServer::make_node(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_mknod_in>();
  if (!how) return senseless();
  TRY(const std::string name, take_name(request));
  const mode_t kind = how->mode & S_IFMT;
  if (kind != S_IFREG && kind != S_IFIFO && kind != S_IFSOCK) {
    return Error::from_errno("mknodat", EPERM);
  }
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  if (::mknodat(directory.get(), name.c_str(), kind | permissions(how->mode), 0) != 0) {
    return Error::from_errno("mknodat");
  }
  return tell_new(request.head.nodeid, name, directory, reply);
}

Status TreeServer::make_directory(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_mkdir_in>();
  if (!how) return senseless();
  TRY(const std::string name, take_name(request));
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  if (::mkdirat(directory.get(), name.c_str(), permissions(how->mode)) != 0) {
    return Error::from_errno("mkdirat");
  }
  return tell_new(request.head.nodeid, name, directory, reply);
}

Status TreeServer::remove(Request& request, int flags) {
  TRY(const std::string name, take_name(request));
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  if (::unlinkat(directory.get(), name.c_str(), flags) != 0) return Error::from_errno("unlinkat");
  nodes_.unnamed(request.head.nodeid, name);
  return {};
}

Status TreeServer::rename(NodeId to, unsigned flags, Request& request) {
  constexpr unsigned kKnown = unsigned{RENAME_NOREPLACE} | unsigned{RENAME_EXCHANGE};
  if ((flags & ~kKnown) != 0) return senseless();
  TRY(const std::string name, take_name(request));
  TRY(const std::string new_name, take_name(request));
  const NodeId from = request.head.nodeid;
  TRY(const os::Fd directory, nodes_.open_directory(from));
  TRY(const os::Fd target, nodes_.open_directory(to));
  // By its number: without flags the library makes another call of it, which the filter does not
  // know.
  if (::syscall(SYS_renameat2, directory.get(), name.c_str(), target.get(), new_name.c_str(),
                flags) != 0) {
    return Error::from_errno("renameat2");
  }
  if (from == to && name == new_name) return {};
  if ((flags & unsigned{RENAME_EXCHANGE}) != 0) {
    nodes_.exchanged(from, name, to, new_name);
  } else {
    nodes_.unnamed(to, new_name);
    nodes_.renamed(from, name, to, new_name);
  }
  return {};
}

Status TreeServer::link(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_link_in>();
  if (!how) return senseless();
  TRY(const std::string name, take_name(request));
  TRY(const Place old, nodes_.place_of(how->oldnodeid));
  TRY(const os::Fd directory, nodes_.open_directory(request.head.nodeid));
  if (::linkat(old.directory.get(), old.name.c_str(), directory.get(), name.c_str(), 0) != 0) {
    return Error::from_errno("linkat");
  }
  return tell_new(request.head.nodeid, name, directory, reply);
}

}  // namespace cordon::files
