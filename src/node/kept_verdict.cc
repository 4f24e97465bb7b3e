// SPDX-License-Identifier: Apache-2.0
#include "node/kept_verdict.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "frame/fields.h"

namespace cordon::node {
namespace kept {

constexpr std::uint16_t kVerdictVersion = 1;

struct KeptVerdict {
  std::uint16_t version = kVerdictVersion;
  std::uint8_t ending = 0;
  std::int32_t status = 0;
  std::uint64_t limit = 0;
  std::uint64_t peak = 0;
  std::string culprit;
  std::string explanation;
  CORDON_FIELDS(KeptVerdict, self.version, self.ending, self.status, self.limit, self.peak,
                self.culprit, self.explanation);
};

}  // namespace kept

std::string kept_text(const Verdict& verdict) {
  const kept::KeptVerdict kept{.ending = static_cast<std::uint8_t>(verdict.ending),
                               .status = verdict.status,
                               .limit = verdict.limit,
                               .peak = verdict.peak,
                               .culprit = verdict.culprit,
                               .explanation = verdict.explanation};
  ByteWriter bytes;
  frame::FieldWriter{bytes}.put(kept);
  return to_base64(as_text(bytes.bytes()));
}

Result<Verdict> read_verdict(std::string_view text) {
  const Error broken{Errc::invalid, "journal: not a verdict"};
  const auto bytes = from_base64(text);
  if (!bytes) return broken;
  ByteReader reader{as_bytes(*bytes)};
  kept::KeptVerdict held;
  TRY_DO(frame::FieldReader{reader}.get(held));
  const auto last = static_cast<std::uint8_t>(Ending::moved);
  if (held.version != kept::kVerdictVersion || reader.left() != 0 || held.ending > last)
    return broken;
  return Verdict{.ending = static_cast<Ending>(held.ending),
                 .status = held.status,
                 .limit = held.limit,
                 .peak = held.peak,
                 .culprit = std::move(held.culprit),
                 .explanation = std::move(held.explanation)};
}

}  // namespace cordon::node
