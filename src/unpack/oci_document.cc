// SPDX-License-Identifier: Apache-2.0
#include "unpack/oci_document.h"

#include <string>

#include <simdjson.h>

#include "base/result.h"

namespace cordon::unpack {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kMostLayers = 128;
constexpr std::size_t kMostManifests = 256;
constexpr std::size_t kMostWords = 512;
constexpr std::size_t kLongestWord = std::size_t{128} << 10U;

Error malformed(std::string_view why) { return {Errc::invalid, std::string{why}}; }

Result<object> object_of(element from) {
  object found;
  if (from.get(found) != simdjson::SUCCESS) return malformed("an object is something else");
  return found;
}

// Nothing where there is no such key, or null.
Result<std::string> text_at(object from, std::string_view key) {
  element value;
  if (from.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::string{};
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return malformed("a text is something else");
  if (text.size() > kLongestWord || text.find('\0') != std::string_view::npos) {
    return malformed("a text that nobody needs");
  }
  return std::string{text};
}

Result<std::vector<std::string>> texts_at(object from, std::string_view key) {
  std::vector<std::string> texts;
  element value;
  if (from.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return texts;
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return malformed("a list is something else");
  for (const element each : list) {
    std::string_view text;
    if (each.get(text) != simdjson::SUCCESS) return malformed("a text is something else");
    if (texts.size() == kMostWords || text.size() > kLongestWord ||
        text.find('\0') != std::string_view::npos) {
      return malformed("more texts than anybody needs");
    }
    texts.emplace_back(text);
  }
  return texts;
}

Result<frame::OciBlob> blob_of(element from) {
  TRY(const object about, object_of(from));
  frame::OciBlob blob;
  TRY(blob.media_type, text_at(about, "mediaType"));
  TRY(blob.digest, text_at(about, "digest"));
  if (!frame::is_oci_digest(blob.digest)) return malformed("a digest that is not of SHA-256");
  if (about.at_key("size").get(blob.size) != simdjson::SUCCESS)
    return malformed("a blob of no size");
  element others;
  if (about.at_key("urls").get(others) == simdjson::SUCCESS) {
    return malformed("a layer that lies elsewhere");
  }
  return blob;
}

Result<std::vector<frame::OciBlob>> blobs_at(object from, std::string_view key, std::size_t most) {
  simdjson::dom::array list;
  if (from.at_key(key).get(list) != simdjson::SUCCESS) {
    return malformed("it has no list of " + std::string{key});
  }
  std::vector<frame::OciBlob> blobs;
  for (const element each : list) {
    if (blobs.size() == most) return malformed("more " + std::string{key} + " than are taken");
    TRY(frame::OciBlob blob, blob_of(each));
    blobs.push_back(std::move(blob));
  }
  return blobs;
}

Result<frame::OciDocument> manifest_of(object top) {
  frame::OciManifest manifest;
  element config;
  if (top.at_key("config").get(config) != simdjson::SUCCESS) return malformed("it has no config");
  TRY(manifest.config, blob_of(config));
  TRY(manifest.layers, blobs_at(top, "layers", kMostLayers));
  if (manifest.layers.empty()) return malformed("it has no layers");
  return frame::OciDocument{std::move(manifest)};
}

Result<frame::OciDocument> config_of(object top) {
  frame::OciConfig config;
  TRY(config.os, text_at(top, "os"));
  TRY(config.architecture, text_at(top, "architecture"));
  element inner;
  if (top.at_key("config").get(inner) != simdjson::SUCCESS || inner.is_null()) {
    return frame::OciDocument{std::move(config)};
  }
  TRY(const object about, object_of(inner));
  TRY(config.user, text_at(about, "User"));
  TRY(config.directory, text_at(about, "WorkingDir"));
  TRY(config.environment, texts_at(about, "Env"));
  TRY(config.entrypoint, texts_at(about, "Entrypoint"));
  TRY(config.command, texts_at(about, "Cmd"));
  return frame::OciDocument{std::move(config)};
}

Result<frame::OciDocument> read(OciKind kind, std::string_view json) {
  if (json.size() > frame::kLongestOciDocument) return malformed("it is too long");
  simdjson::dom::parser parser;
  element root;
  const auto error = parser.parse(simdjson::padded_string{json}).get(root);
  if (error != simdjson::SUCCESS) return malformed(simdjson::error_message(error));
  TRY(const object top, object_of(root));
  switch (kind) {
    case OciKind::index: {
      TRY(auto manifests, blobs_at(top, "manifests", kMostManifests));
      return frame::OciDocument{frame::OciIndex{std::move(manifests)}};
    }
    case OciKind::manifest:
      return manifest_of(top);
    case OciKind::config:
      return config_of(top);
  }
  return malformed("no such kind");
}

}  // namespace

std::optional<OciKind> oci_kind_from_string(std::string_view name) {
  if (name == "index") return OciKind::index;
  if (name == "manifest") return OciKind::manifest;
  if (name == "config") return OciKind::config;
  return std::nullopt;
}

frame::OciDocument read_oci_document(OciKind kind, std::string_view json) {
  auto document = read(kind, json);
  if (!document) return frame::OciRefused{document.error().text()};
  return *std::move(document);
}

}  // namespace cordon::unpack
