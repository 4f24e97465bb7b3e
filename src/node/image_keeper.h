// SPDX-License-Identifier: Apache-2.0
// Who writes the store of images for a node: started for each thing that is wanted, so that it is
// there no longer than it takes.
#pragma once

#include <functional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/keeper.h"
#include "os/fd.h"

namespace cordon::node {

// Used from the loop's thread only.
class ImageKeeper {
 public:
  // The link to a new one; an earlier one ends.
  using Open = std::function<async::Task<os::Fd>()>;
  ImageKeeper(const asio::any_io_executor& executor, Open open);
  ImageKeeper(const ImageKeeper&) = delete;
  ImageKeeper& operator=(const ImageKeeper&) = delete;

  // `archive`: where a KeepImage is read from; its writer goes on until it is told that nobody
  // reads. One at a time: the others wait for it. `unavailable`: there is no keeper. `invalid`: it
  // has refused, in its words.
  async::Task<frame::ImageKept> ask(frame::ToKeeper wanted, os::Fd archive = {});

 private:
  class Turn;
  async::Task<frame::ImageKept> ask_now(const frame::ToKeeper& wanted, const os::Fd& archive);

  asio::any_io_executor executor_;
  Open open_;
  bool is_asked_ = false;
  asio::steady_timer freed_;  // never fires: cancelled when the next may ask
};

}  // namespace cordon::node
