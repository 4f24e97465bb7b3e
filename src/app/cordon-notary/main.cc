// SPDX-License-Identifier: Apache-2.0
// cordon-notary: holds the key of an audit log's heads, and signs only what continues what it has
// signed.
//
// cordon-notary --serve             as a service, started by the launcher: descriptor 3 is the
//                                   node, 4 the key, 5 what was signed, 6 the anchor
// cordon-notary --seal LOG NOTARY   signs a log of the caller's own; both are directories
// cordon-notary --check             says of each head on its standard input whether it was signed
//                                   with the key that it names: "yes" or "no"
#include <csignal>
#include <cstdio>
#include <iostream>
#include <openssl/crypto.h>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/wiped.h"
#include "notary/confine.h"
#include "notary/own_notary.h"
#include "notary/seal_log.h"
#include "notary/serve.h"
#include "os/own_directory.h"
#include "os/positioned_file.h"
#include "os/prctl.h"
#include "os/process.h"

namespace {

using namespace cordon;

constexpr int kNode = 3;
constexpr int kKey = 4;
constexpr int kSigned = 5;
constexpr int kAnchor = 6;

Status serve(const Clock& clock) {
  const os::Fd node{kNode};
  notary::NotaryFiles files{os::Fd{kKey}, os::Fd{kSigned}, os::Fd{kAnchor}};
  TRY_DO(os::close_from(kAnchor + 1));
  TRY(notary::Notary notary, notary::open_notary(std::move(files), clock));
  TRY_DO(notary::confine());
  return notary::serve(notary, node);
}

Status seal(const std::string& log, const std::string& own, const Clock& clock) {
  TRY(const os::Fd log_directory, os::open_own_directory(log));
  TRY(const os::Fd directory, os::open_own_directory(own));
  TRY(notary::OwnNotary notary, notary::OwnNotary::open(directory, clock));
  TRY(const auto head, notary::seal_log(notary.notary(), log_directory));
  if (head) std::cout << encode(*head) << '\n';
  return {};
}

void check() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto head = audit::decode_head(line);
    std::cout << (head && notary::is_signed(*head) ? "yes\n" : "no\n");
  }
}

int usage() {
  static_cast<void>(
      std::fputs("cordon-notary: started by the launcher, and by `cordon audit`\n", stderr));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.empty()) return usage();
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  if (const Status hidden = os::set_dumpable(false); !hidden) return 125;
  // Here, before there are no files any more, and without anybody's file.
  if (::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return 125;
  const SystemClock clock;
  if (words.front() == "--check" && words.size() == 1) {
    check();
    return 0;
  }
  Status done;
  if (words.front() == "--serve" && words.size() == 1) {
    done = serve(clock);
  } else if (words.front() == "--seal" && words.size() == 3) {
    done = seal(words[1], words[2], clock);
  } else {
    return usage();
  }
  if (done) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon-notary: %s\n", done.error().text().c_str()));
  return 1;
}
