// SPDX-License-Identifier: Apache-2.0
#include "os/filter/own_filter.h"

namespace cordon::os {
namespace {

// kBroker, kEgress and so on: written by the generator.
#include "os/filter/own_programs.inc"

}  // namespace

FilterProgram own_filter(OwnProgram program) {
  switch (program) {
    case OwnProgram::broker:
      return kBroker;
    case OwnProgram::egress:
      return kEgress;
    case OwnProgram::files:
      return kFiles;
    case OwnProgram::mcp:
      return kMcp;
    case OwnProgram::notary:
      return kNotary;
    case OwnProgram::relay:
      return kRelay;
    case OwnProgram::unpack:
      return kUnpack;
  }
  return kUnpack;  // not reached; the narrowest all the same
}

}  // namespace cordon::os
