// SPDX-License-Identifier: Apache-2.0
#include "image/oci_layout.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "hash/sha256.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/openat2.h"

namespace cordon::image {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#endif

Result<os::Fd> open_file(const os::Fd& layout, const std::string& path) {
  TRY(os::Fd file,
      os::open_beneath(layout, path.c_str(),
                       {.flags = O_RDONLY | O_NONBLOCK, .symlinks = os::Symlinks::refused}));
  TRY(const os::FileStatus about, os::statx(file));
  if (about.type != os::FileType::regular) return Error{Errc::invalid, path + " is no file"};
  return file;
}

// A document, all of it, as it was meant.
Result<std::string> read_document(const os::Fd& layout, const frame::OciBlob& blob) {
  TRY(const os::Fd file, open_blob(layout, blob));
  TRY(std::string text, os::read_all(file, frame::kLongestOciDocument));
  if ("sha256:" + to_hex(sha256({as_bytes(text)})) != blob.digest) {
    return Error{Errc::invalid, "a document is not " + blob.digest + ": it was changed"};
  }
  return text;
}

template <class Document>
Result<Document> as(Result<frame::OciDocument> read) {
  if (!read) return std::move(read).error();
  auto* const document = std::get_if<Document>(&*read);
  if (document == nullptr) return Error{Errc::invalid, "cordon-unpack read something else"};
  return std::move(*document);
}

}  // namespace

Result<os::Fd> open_blob(const os::Fd& layout, const frame::OciBlob& blob) {
  return open_file(layout, "blobs/sha256/" + blob.digest.substr(7));
}

Result<OciImage> read_layout(const os::Fd& layout, const Unpacker& unpacker) {
  TRY(const os::Fd file, open_file(layout, "index.json"));
  TRY(const std::string index_text, os::read_all(file, frame::kLongestOciDocument));
  TRY(const auto index, as<frame::OciIndex>(unpacker.document("index", index_text)));
  if (index.manifests.size() != 1) {
    return Error{Errc::invalid,
                 "the layout has " + std::to_string(index.manifests.size()) + " images, not one"};
  }
  OciImage image{.digest = index.manifests.front().digest, .manifest = {}, .config = {}};
  TRY(const std::string manifest_text, read_document(layout, index.manifests.front()));
  TRY(image.manifest, as<frame::OciManifest>(unpacker.document("manifest", manifest_text)));
  TRY(const std::string config_text, read_document(layout, image.manifest.config));
  TRY(image.config, as<frame::OciConfig>(unpacker.document("config", config_text)));
  if (image.config.os != "linux" || image.config.architecture != kArchitecture) {
    return Error{Errc::unavailable, "the image is for " + image.config.os + "/" +
                                        image.config.architecture + ", this machine is linux/" +
                                        std::string{kArchitecture}};
  }
  return image;
}

}  // namespace cordon::image
