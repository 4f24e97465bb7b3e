// SPDX-License-Identifier: Apache-2.0
// The face that clients written for E2B speak to: sandboxes, and within each of them processes and
// files. The same sandboxes as API v1's, under the same policies.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/e2b/access_token.h"
#include "api/e2b/connect.h"
#include "api/e2b/file_entry.h"
#include "api/e2b/file_signature.h"
#include "api/e2b/followed_processes.h"
#include "api/e2b/interpreter.h"
#include "api/e2b/process_message.h"
#include "api/e2b/sandbox_answer.h"
#include "api/e2b/template_builds.h"
#include "api/e2b/template_request.h"
#include "api/rest/call.h"
#include "api/rest/call_record.h"
#include "api/rest/file_call.h"
#include "api/rest/routes.h"
#include "async/scope.h"
#include "async/task.h"
#include "audit/log.h"
#include "base/clock.h"
#include "gate/gate.h"
#include "gate/named_sandbox.h"
#include "http/exchange.h"
#include "node/archive_worker.h"
#include "node/audit_disk.h"
#include "node/image_keeper.h"
#include "node/per_second.h"
#include "node/quotas.h"
#include "node/residents.h"
#include "node/template_files.h"
#include "node/templates.h"

namespace cordon::api::e2b {

// A directory whose changes are kept until its client asks.
struct PolledWatch {
  std::shared_ptr<node::Resident> resident;
  std::unique_ptr<sandbox::Watch> watch;
  std::deque<frame::WatchEvent> changes{};  // the latest
  bool is_removed = false;
};

// Used from the loop's thread only.
class Face {
 public:
  // All outlive it.
  struct Parts {
    node::Residents& residents;
    const node::Settings& settings;
    const gate::Gate& gate;
    const Clock& clock;
    node::Quotas& quotas;
    node::Archives& archives;
    node::ImageKeeper& keeper;
    audit::Log& log;
    node::AuditDisk& disk;
    std::function<std::string()> new_request_id;
  };
  Face(const asio::any_io_executor& executor, Parts parts, AccessTokens tokens)
      : executor_{executor},
        parts_{std::move(parts)},
        tokens_{std::move(tokens)},
        record_{executor, parts_.log, parts_.clock},
        template_files_{parts_.settings.state, parts_.archives} {}

  // What it follows beyond a request lives in `scope`, which ends after all calls.
  void live_in(async::Scope& scope) { scope_ = &scope; }

  async::Task<void> handle(http::Exchange& exchange);

  // As a list has it; empty: none has.
  std::string row_of(const node::Resident& resident) const;
  // For the node where it goes on.
  node::Residents::Doors doors_of(const node::Resident& resident) const;

  // sandboxes.cc, by an API key
  async::Task<void> create(Call& call);
  async::Task<void> connect(Call& call);
  async::Task<void> list(Call& call);
  async::Task<void> info(Call& call);
  async::Task<void> kill(Call& call);
  async::Task<void> set_timeout(Call& call);
  async::Task<void> refresh(Call& call);
  async::Task<void> metrics(Call& call);
  async::Task<void> pause(Call& call);
  async::Task<void> change_network(Call& call);

  // templates.cc, by an API key; take_files by a signature
  async::Task<void> list_templates(Call& call);
  async::Task<void> find_alias(Call& call);
  async::Task<void> ask_template(Call& call);
  async::Task<void> where_to_send(Call& call);
  async::Task<void> take_files(Call& call);
  async::Task<void> begin_build(Call& call);
  async::Task<void> build_status(Call& call);
  async::Task<void> add_tags(Call& call);
  async::Task<void> remove_tags(Call& call);
  async::Task<void> list_tags(Call& call);
  async::Task<void> remove_template(Call& call);

  // Inside a sandbox, by its access token.
  using Inside = std::shared_ptr<node::Resident>;
  // processes.cc
  async::Task<std::string> list_processes(Call& call, Inside inside);
  async::Task<std::string> update_process(Call& call, Inside inside);
  async::Task<std::string> send_input(Call& call, Inside inside);
  async::Task<std::string> send_signal(Call& call, Inside inside);
  async::Task<std::string> close_input(Call& call, Inside inside);
  async::Task<void> start_process(Call& call, Inside inside);
  async::Task<void> connect_process(Call& call, Inside inside);
  // filesystem.cc
  async::Task<std::string> stat(Call& call, Inside inside);
  async::Task<std::string> make_directory(Call& call, Inside inside);
  async::Task<std::string> move(Call& call, Inside inside);
  async::Task<std::string> list_directory(Call& call, Inside inside);
  async::Task<std::string> remove(Call& call, Inside inside);
  // watches.cc
  async::Task<void> watch_directory(Call& call, Inside inside);
  async::Task<std::string> create_watcher(Call& call, Inside inside);
  async::Task<std::string> watcher_events(Call& call, Inside inside);
  async::Task<std::string> remove_watcher(Call& call, Inside inside);
  // files.cc
  async::Task<void> read_file(Call& call, Inside inside);
  async::Task<void> write_files(Call& call, Inside inside);
  // interpreters.cc, by the traffic token
  async::Task<void> run_code(Call& call, Inside inside);
  async::Task<void> create_context(Call& call, Inside inside);
  async::Task<void> list_contexts(Call& call, Inside inside);
  async::Task<void> restart_context(Call& call, Inside inside);
  async::Task<void> remove_context(Call& call, Inside inside);

 private:
  static constexpr std::size_t kMostLookups = 20'000;

  async::Task<void> serve_control(Call& call);
  // sandboxes.cc
  Result<Inside> living(const Call& call) const;
  std::string made_json(const Call& call, const node::Resident& resident) const;
  ListedSandbox listed(const node::Resident& resident) const;
  async::Task<void> prolong(Inside resident, std::uint64_t seconds, bool may_shorten);
  async::Task<void> resume(Inside resident, std::uint64_t seconds);
  // templates.cc
  Result<std::vector<node::Template>> templates_named(const Call& call,
                                                      std::string_view name) const;
  Result<std::shared_ptr<Build>> build_of(const Call& call) const;
  asio::awaitable<void> run_build(std::shared_ptr<Build> build, BuildOrder order,
                                  token::Authority authority);
  // services.cc
  async::Task<void> serve_inside(Call& call, std::string_view sandbox, std::string_view port);
  async::Task<void> serve_signed(Call& call);
  async::Task<void> serve_port(Call& call, Inside inside, std::string_view port);
  async::Task<void> serve_service(Call& call, Inside inside);
  bool is_open(const Call& call, const node::Resident& resident) const;
  bool shows_traffic_token(const Call& call, const node::Resident& resident) const;
  std::string door_of(const node::Resident& resident, Door door) const;
  // Takes as long whichever letter differs.
  bool opens(std::string_view shown, const node::Resident& resident, Door door) const;
  // interpreters.cc
  async::Task<void> serve_interpreter(Call& call, Inside inside);
  // The one of this sandbox, which is begun where there is none.
  Result<std::shared_ptr<Interpreter>> interpreter_of(const Inside& inside);
  async::Task<void> ask_interpreter(Call& call, Inside inside, std::string_view act,
                                    std::string fields);
  // processes.cc
  // What every sandbox of a template begins with, until it is ready, or for a while.
  async::Task<void> begin_template(Inside inside, const image::Image& image);
  // Nothing for `limit`: until the process is over.
  async::Task<void> send_to(Reader& reader, Call& call,
                            std::optional<std::chrono::milliseconds> limit);
  // watches.cc
  std::shared_ptr<PolledWatch> polled_of(const node::Resident& resident,
                                         std::string_view name) const;
  // files.cc
  async::Task<void> write_form(Call& call, Inside inside);
  async::Task<void> write_plain(Call& call, Inside inside);

  asio::any_io_executor executor_;
  Parts parts_;
  AccessTokens tokens_;
  CallRecord record_;
  FollowedProcesses followed_;
  node::TemplateFiles template_files_;
  Builds builds_;
  std::map<std::string, std::shared_ptr<PolledWatch>> polled_;
  std::map<std::string, std::shared_ptr<Interpreter>> interpreters_;  // by sandbox
  // Sandboxes that were tried for URLs which name none: whoever reaches the node can send one.
  node::PerSecond lookups_{kMostLookups};
  async::Scope* scope_ = nullptr;
};

// All that is wrong, in one text: clients show nothing else.
std::string words_of(const wire::ProblemAnswer& problem);
// The answer of a call that is refused or fails: {"code":…,"message":…}.
async::Task<void> answer_error(Call& call, const Error& error);
async::Task<void> answer_error(Call& call, const wire::ProblemAnswer& problem);

inline constexpr std::string_view kUser = "user";
inline constexpr std::string_view kRoot = "root";
// Whose name a call bears: of `Authorization: Basic` with no password, or of the query; empty: of
// nobody, who is the sandbox's own user.
Result<std::string> named_user(const Call& call);

// To who asks for a port without the token that it wants.
async::Task<void> answer_without_traffic_token(Call& call);

// The end of a stream that has begun.
async::Task<void> end_with(Call& call, ConnectError error);

}  // namespace cordon::api::e2b
