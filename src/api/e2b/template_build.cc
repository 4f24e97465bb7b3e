// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/template_build.h"

#include <algorithm>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "api/e2b/build_request.h"
#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "api/e2b/sandbox_request.h"
#include "api/rest/shown.h"
#include "base/log.h"
#include "node/image_stream.h"
#include "node/start_command.h"
#include "node/templates.h"
#include "wire/requests.h"

namespace cordon::api::e2b {
namespace {

constexpr std::chrono::minutes kLongestStep{30};
constexpr std::chrono::minutes kLongestCopy{15};
constexpr std::chrono::seconds kLongestTrial{60};
constexpr std::chrono::milliseconds kBetweenTrials{200};

// Puts what was sent where a copy wants it. Files keep their modes; their owner is the step's, as
// far as the sandbox lets id 0 give them away.
constexpr std::string_view kCopy = R"sh(set -eu
cd "$STAGE"
if [ -n "$MODE" ]; then chmod -R "$MODE" .; fi
give() { chown -R "$OWNER" -- "$1" 2>/dev/null || true; }
make() { [ -d "$1" ] || { make "$(dirname -- "$1")"; mkdir -- "$1"; give "$1"; }; }
give .
shopt -s nullglob globstar
IFS=
items=($SOURCE)
if [ ${#items[@]} -eq 0 ]; then
  echo "there is no $SOURCE among the files that were sent" >&2
  exit 1
fi
place=${TARGET%/}
for item in "${items[@]}"; do
  if [ -d "$item" ] && [ ! -L "$item" ]; then
    make "$place"
    cp -a -- "$item/." "$place/"
  elif [ ${#items[@]} -gt 1 ] || [ "$place" != "$TARGET" ] || [ -d "$TARGET" ]; then
    make "$place"
    cp -a -- "$item" "$place/"
  else
    make "$(dirname -- "$TARGET")"
    cp -a -- "$item" "$TARGET"
  fi
done
cd /
rm -rf -- "$STAGE"
)sh";

constexpr std::string_view kMakeDirectory = R"sh(set -eu
[ -d "$TARGET" ] && exit 0
mkdir -p -- "$TARGET"
chown "$OWNER" -- "$TARGET" 2>/dev/null || true
)sh";

// Joined to where the shell is; `~` is the home.
Result<std::string> path_from(const std::string& directory, const std::string& path) {
  if (path.starts_with('/') || path.starts_with('~')) return inner_path(path);
  return inner_path(directory + '/' + path);
}

Error error_of(const Error& error, const node::WhyNotAdmitted& why) {
  return Error{error.code(), words_of(problem_with(error, why))};
}

}  // namespace

TemplateBuild::TemplateBuild(Parts parts, std::shared_ptr<Build> build, BuildOrder order)
    : parts_{parts},
      build_{std::move(build)},
      order_{std::move(order)},
      shell_{std::string{kUser}, std::string{kHome}} {}

void TemplateBuild::say(std::string_view text) { build_->say(parts_.clock.wall(), text); }

async::Task<void> TemplateBuild::hear(frame::Stream stream, std::string bytes) {
  build_->hear(parts_.clock.wall(), stream == frame::Stream::err, bytes);
  co_return Status{};
}

sandbox::Command TemplateBuild::command(std::string_view script, std::string_view user,
                                        Variables more) const {
  more.insert(shell_.variables.begin(), shell_.variables.end());
  if (user == kRoot) more.insert({{"HOME", "/root"}, {"LOGNAME", "root"}, {"USER", "root"}});
  wire::StartRequest start{.command = {"/bin/bash", "-l", "-c", std::string{script}},
                           .environment = std::move(more),
                           .directory = shell_.directory,
                           .input = {}};
  sandbox::Command made = node::command_of(std::move(start), inside_->lowered());
  made.as_root = user == kRoot;
  return made;
}

async::Task<void> TemplateBuild::shell(std::string_view script, std::string_view user,
                                       Variables more) {
  sandbox::Command wanted = command(script, user, std::move(more));
  const auto code = co_await node::run_inside(inside_, std::move(wanted), *this, kLongestStep);
  build_->end_line(parts_.clock.wall());
  if (!code) co_return code.error();
  if (*code != 0) co_return Error{Errc::denied, fmt::format("it ended with {}", *code)};
  co_return Status{};
}

// The image that the steps begin with. Another template's is its own user and directory, too.
async::Task<void> TemplateBuild::find_ground(std::string& image) {
  image = order_.image;
  if (!order_.from_template.empty()) {
    CO_TRY(const TemplateName name, read_template_name(order_.from_template));
    CO_TRY(const auto known,
           node::find_template(parts_.settings.image_store, build_->owner, name.alias, name.tag));
    if (!known && !is_usual_template(name.alias)) {
      co_return Error{Errc::not_found,
                      fmt::format("there is no template {}", order_.from_template)};
    }
    if (known) {
      image = known->image.name;
      shell_.user = known->image.config.user;
      shell_.directory = known->image.config.directory;
    }
  }
  if (image.empty()) image = parts_.settings.default_image;
  if (!image.empty()) {
    environment_ = node::environment_of(parts_.settings.image_store, image);
    co_return Status{};
  }
  co_return Error{Errc::unavailable,
                  "this node has no image to build from; its operator names one "
                  "with `default_image`"};
}

async::Task<void> TemplateBuild::begin(const token::Authority& authority) {
  const node::TemplateSettings& settings = parts_.settings.templates;
  BuildGround ground{.image = {},
                     .reach = settings.egress_allowlist,
                     .memory = settings.memory,
                     .disk = settings.disk};
  CO_TRY_DO(co_await find_ground(ground.image));
  say("FROM " + ground.image);
  node::WhyNotAdmitted why;
  auto request = wire::read_create_request(build_request(ground, build_->id), why.problems);
  if (!request) co_return error_of(request.error(), why);
  node::CreateOrder order{.tenant = build_->tenant,
                          .request = *std::move(request),
                          .key = {},
                          .purpose = node::Purpose::build};
  auto made = co_await parts_.residents.create(std::move(order), authority, why);
  if (!made) co_return error_of(made.error(), why);
  inside_ = *std::move(made);
  co_return Status{};
}

Status TemplateBuild::set_user(const std::string& user) {
  if (user != kUser && user != kRoot) {
    return Error{Errc::invalid, fmt::format("there is no user '{}' here: steps are '{}' or '{}''s",
                                            user, kUser, kRoot)};
  }
  shell_.user = user;
  return {};
}

// As chown takes them: an image need not know our names.
std::string TemplateBuild::ids_of(const std::string& user) const {
  const frame::Fences& fences = inside_->lowered().plan.setup.fences;
  return user == kRoot ? "0:0" : fmt::format("{}:{}", fences.uid, fences.gid);
}

async::Task<void> TemplateBuild::change_directory(const std::string& path) {
  CO_TRY(std::string directory, path_from(shell_.directory, path));
  // Where the shell is now may not be there any more.
  shell_.directory = "/";
  CO_TRY_DO(co_await shell(kMakeDirectory, kRoot,
                           {{"TARGET", directory}, {"OWNER", ids_of(shell_.user)}}));
  shell_.directory = std::move(directory);
  co_return Status{};
}

async::Task<void> TemplateBuild::take(const BuildStep& step) {
  const std::vector<std::string>& words = step.arguments;
  switch (step.kind) {
    case StepKind::env:
      for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
        say("ENV " + words[at]);
        shell_.variables.insert_or_assign(words[at], words[at + 1]);
      }
      co_return Status{};
    case StepKind::user:
      say("USER " + words.front());
      co_return set_user(words.front());
    case StepKind::workdir:
      say("WORKDIR " + words.front());
      co_return co_await change_directory(words.front());
    case StepKind::run: {
      say("RUN " + words.front());
      const std::string before = shell_.user;
      if (words.size() > 1 && !words[1].empty()) CO_TRY_DO(set_user(words[1]));
      const std::string user = std::exchange(shell_.user, before);
      co_return co_await shell(words.front(), user);
    }
    case StepKind::copy:
      break;
  }
  co_return co_await copy(step);
}

async::Task<void> TemplateBuild::copy(const BuildStep& step) {
  const std::vector<std::string>& words = step.arguments;
  say(fmt::format("COPY {} {}", words[0], words[1]));
  const std::string before = shell_.user;
  if (words.size() > 2 && !words[2].empty()) CO_TRY_DO(set_user(words[2]));
  const std::string owner = std::exchange(shell_.user, before);
  const std::string mode = words.size() > 3 ? words[3] : "";
  if (mode.find_first_not_of("01234567") != std::string::npos) {
    co_return Error{Errc::invalid, fmt::format("\"{}\" is no mode in octal", mode)};
  }
  const std::string stage = "/tmp/.copy-" + step_;
  CO_TRY_DO(co_await parts_.files.put_inside(inside_, build_->template_id, step.files, stage));
  CO_TRY(std::string target, path_from(shell_.directory, words[1]));
  if (words[1].ends_with('/') && target != "/") target += '/';
  co_return co_await shell(kCopy, kRoot,
                           {{"STAGE", stage},
                            {"SOURCE", words[0]},
                            {"TARGET", target},
                            {"OWNER", ids_of(owner)},
                            {"MODE", mode}});
}

// What every sandbox of it is to begin with is tried once: a template whose program never becomes
// ready is none.
async::Task<void> TemplateBuild::try_start() {
  if (order_.start.empty()) co_return Status{};
  say("START " + order_.start);
  CO_TRY(const auto process, inside_->start(command(order_.start, shell_.user, {})));
  Status ready;
  if (!order_.ready.empty()) {
    const auto deadline = parts_.clock.wall() + kLongestTrial;
    for (;;) {
      ready = co_await shell(order_.ready, shell_.user);
      if (ready || parts_.clock.wall() > deadline) break;
      asio::steady_timer rest{co_await asio::this_coro::executor, kBetweenTrials};
      co_await rest.async_wait(asio::use_awaitable);
    }
  }
  process->signal(9, frame::SignalTo::group);
  if (!ready) {
    co_return Error{Errc::timeout, fmt::format("`{}` was not ready after {} s: `{}` did not end "
                                               "well",
                                               order_.start, kLongestTrial.count(), order_.ready)};
  }
  co_return Status{};
}

async::Task<void> TemplateBuild::keep() {
  // Without tags nobody finds it: what breaks off half way is never taken for a template.
  node::Template made{.owner = build_->owner,
                      .alias = build_->alias,
                      .tags = {},
                      .build = build_->id,
                      .processors = build_->processors,
                      .memory_megabytes = build_->memory_megabytes};
  frame::KeepImage wanted{.name = node::image_name_of(build_->id),
                          .source = node::source_of(made),
                          .config = {.os = "linux",
                                     .architecture = {},
                                     .user = shell_.user,
                                     .directory = shell_.directory,
                                     .environment = environment_,
                                     .entrypoint = {order_.ready},
                                     .command = {order_.start}}};
  for (const auto& [name, value] : shell_.variables) {
    wanted.config.environment.push_back(fmt::format("{}={}", name, value));
  }
  sandbox::Command exporting = command(node::kExportRoot, kRoot, {});
  CO_TRY(const frame::ImageKept kept,
         co_await node::keep_root(inside_, std::move(exporting), parts_.keeper, std::move(wanted),
                                  kLongestCopy));
  made.tags = build_->tags;
  CO_TRY_DO(co_await node::set_tags(parts_.keeper, made));
  say(fmt::format("IMAGE {} files, {} bytes, {}", kept.entries, kept.bytes, kept.digest));
  co_return co_await move_tags();
}

// A tag is one build's: the one that had it before has it no more, and without any is gone.
async::Task<void> TemplateBuild::move_tags() {
  CO_TRY(const auto all, node::templates_in(parts_.settings.image_store, build_->owner));
  for (node::Template each : all) {
    if (each.alias != build_->alias || each.build == build_->id) continue;
    const std::size_t before = each.tags.size();
    std::erase_if(each.tags, [&](const std::string& tag) {
      return std::ranges::find(build_->tags, tag) != build_->tags.end();
    });
    if (each.tags.size() == before && before > 0) continue;
    CO_TRY_DO(co_await node::set_tags(parts_.keeper, each));
  }
  co_return Status{};
}

async::Task<void> TemplateBuild::build(const token::Authority& authority) {
  CO_TRY_DO(co_await begin(authority));
  // An image has no home of this user's yet.
  CO_TRY_DO(co_await change_directory(shell_.directory));
  for (std::size_t at = 0; at < order_.steps.size(); ++at) {
    step_ = std::to_string(at + 1);
    CO_TRY_DO(co_await take(order_.steps[at]));
  }
  step_ = "finalize";
  CO_TRY_DO(co_await try_start());
  co_return co_await keep();
}

asio::awaitable<void> TemplateBuild::run(token::Authority authority) {
  const Status done = co_await build(authority);
  if (inside_) {
    static_cast<void>(co_await parts_.residents.end(inside_, {.ending = Ending::killed}));
  }
  build_->end_line(parts_.clock.wall());
  build_->status = done ? BuildStatus::ready : BuildStatus::error;
  if (done) co_return;
  build_->failure = done.error().text();
  build_->failed_step = step_;
  log(LogLevel::info, "e2b", "a build failed",
      {{"build", build_->id}, {"step", step_}, {"why", done.error().text()}});
}

}  // namespace cordon::api::e2b
