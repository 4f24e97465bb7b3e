// SPDX-License-Identifier: Apache-2.0
#include "http/socket_bio.h"

#include <cstddef>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include "http/stream.h"

namespace cordon::http {

struct SocketBio {
  static Stream& stream(BIO* bio) { return *static_cast<Stream*>(::BIO_get_data(bio)); }

  static int read(BIO* bio, char* room, std::size_t size, std::size_t* got) {
    BIO_clear_retry_flags(bio);
    Stream& from = stream(bio);
    if (from.before_used_ < from.before_.size()) {
      *got = from.before_.copy(room, size, from.before_used_);
      from.before_used_ += *got;
      if (from.before_used_ == from.before_.size()) from.before_ = {};
      if (from.before_.empty()) from.before_used_ = 0;
      return 1;
    }
    boost::system::error_code error;
    *got = from.socket_.read_some(asio::buffer(room, size), error);
    if (error == asio::error::would_block || error == asio::error::try_again)
      BIO_set_retry_read(bio);
    if (error == asio::error::eof) ::BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return error ? 0 : 1;
  }

  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put) {
    BIO_clear_retry_flags(bio);
    Stream& to = stream(bio);
    // Behind what is to go out yet, whoever says it.
    if (to.is_gathering_ || !to.records_.empty()) {
      to.records_.append(bytes, size);
      *put = size;
      return 1;
    }
    boost::system::error_code error;
    *put = to.socket_.write_some(asio::buffer(bytes, size), error);
    if (error == asio::error::would_block || error == asio::error::try_again)
      BIO_set_retry_write(bio);
    return error ? 0 : 1;
  }

  static long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
    if (command == BIO_CTRL_EOF) return ::BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  // Made once; the process keeps it.
  static const BIO_METHOD* method() {
    static const BIO_METHOD* const made = [] {
      BIO_METHOD* const fresh =
          ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
      ::BIO_meth_set_read_ex(fresh, read);
      ::BIO_meth_set_write_ex(fresh, write);
      ::BIO_meth_set_ctrl(fresh, control);
      return fresh;
    }();
    return made;
  }
};

BIO* new_socket_bio(Stream& stream) {
  BIO* const bio = ::BIO_new(SocketBio::method());
  if (bio == nullptr) return nullptr;
  ::BIO_set_data(bio, &stream);
  ::BIO_set_init(bio, 1);
  return bio;
}

}  // namespace cordon::http
