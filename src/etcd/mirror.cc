// SPDX-License-Identifier: Apache-2.0
#include "etcd/mirror.h"

#include <iterator>
#include <utility>

#include "etcd/sleep.h"
#include "etcd/status.h"
#include "etcd/watch.h"

namespace cordon::etcd {
namespace {

constexpr std::int64_t kPage = 500;  // keys in one answer

}  // namespace

Mirror::Mirror(Client& client, std::string prefix, Changed changed)
    : client_{client}, keys_{below(std::move(prefix))}, changed_{std::move(changed)} {}

// Page by page, all of one revision.
async::Task<Mirror::Listed> Mirror::list() {
  Listed listed;
  Range page{.keys = keys_, .limit = kPage};
  for (;;) {
    CO_TRY(Found found, co_await client_.range(page));
    if (page.at == 0) {
      listed.origin = found.origin;
      page.at = found.origin.revision;
    }
    std::ranges::move(found.values, std::back_inserter(listed.values));
    if (!found.more) co_return listed;
    page.keys.first = listed.values.back().key + '\0';
  }
}

async::Task<void> Mirror::follow(Origin from) {
  Watch watch{client_, keys_, from.revision + 1, from.cluster};
  for (;;) {
    CO_TRY(Watch::Batch batch, co_await watch.next());
    const auto changes = replica_.apply(std::move(batch.events));
    if (!changes.empty()) changed_(changes);
  }
}

async::Task<void> Mirror::run() {
  Pause pause;
  for (;;) {
    auto listed = co_await list();
    Status ended;
    if (listed) {
      pause.reset();
      const auto changes = replica_.reset(std::move(listed->values), listed->origin.revision);
      is_filled_ = true;
      changed_(changes);
      ended = co_await follow(listed->origin);
    } else {
      ended = listed.error();
    }
    const Errc why = ended.error().code();  // neither of the two ends well
    // Compacted under the listing or the watch.
    if (why != Errc::not_found && !is_passing(why)) co_return ended;
    co_await sleep(pause.next());
  }
}

}  // namespace cordon::etcd
