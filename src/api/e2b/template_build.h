// SPDX-License-Identifier: Apache-2.0
// One build of a template: its steps in a sandbox of its own, and what they leave as an image.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/e2b/template_builds.h"
#include "api/e2b/template_request.h"
#include "async/task.h"
#include "base/clock.h"
#include "node/image_keeper.h"
#include "node/inner_command.h"
#include "node/residents.h"
#include "node/settings.h"
#include "node/template_files.h"
#include "token/authority.h"

namespace cordon::api::e2b {

// Lives as long as its one run.
class TemplateBuild final : public node::OutputEar {
 public:
  // All outlive it.
  struct Parts {
    node::Residents& residents;
    node::ImageKeeper& keeper;
    node::TemplateFiles& files;
    const node::Settings& settings;
    const Clock& clock;
  };
  TemplateBuild(Parts parts, std::shared_ptr<Build> build, BuildOrder order);

  // From waiting to ready, or to an error, which the build tells. Nothing of its sandbox is left.
  asio::awaitable<void> run(token::Authority authority);

  async::Task<void> hear(frame::Stream stream, std::string bytes) override;

 private:
  // What the steps have set so far.
  struct Shell {
    std::string user;
    std::string directory;
    std::map<std::string, std::string> variables{};
  };
  using Variables = std::map<std::string, std::string>;

  async::Task<void> build(const token::Authority& authority);
  async::Task<void> begin(const token::Authority& authority);
  async::Task<void> find_ground(std::string& image);
  async::Task<void> take(const BuildStep& step);
  async::Task<void> change_directory(const std::string& path);
  async::Task<void> copy(const BuildStep& step);
  std::string ids_of(const std::string& user) const;
  Status set_user(const std::string& user);
  async::Task<void> try_start();
  async::Task<void> keep();
  async::Task<void> move_tags();

  // `more`: variables beside the shell's.
  sandbox::Command command(std::string_view script, std::string_view user, Variables more) const;
  // Until its end: `denied` where that is another code than 0.
  async::Task<void> shell(std::string_view script, std::string_view user, Variables more = {});
  void say(std::string_view text);

  Parts parts_;
  std::shared_ptr<Build> build_;
  BuildOrder order_;
  Shell shell_;
  std::vector<std::string> environment_;  // of the image that it began with
  std::string step_ = "base";
  std::shared_ptr<node::Resident> inside_;
};

}  // namespace cordon::api::e2b
