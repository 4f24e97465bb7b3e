// SPDX-License-Identifier: Apache-2.0
#include "service.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/bytes.h"
#include "launcher/floor.h"
#include "os/file.h"
#include "os/landlock.h"
#include "os/spawn.h"

namespace cordon::service {

namespace fs = std::filesystem;

std::string Answer::text() const {
  if (const auto* refused = as<frame::Refused>()) return refused->code + ": " + refused->text;
  if (const auto* broken = as<frame::Broken>()) return broken->step + ": " + broken->text;
  return "message " + std::to_string(body.index());
}

Result<Node> Node::connect(const std::string& path) {
  TRY(const os::UnixAddress address, os::UnixAddress::at_path(path));
  TRY(os::Fd socket, os::unix_connect(address, os::SocketType::seqpacket));
  return Node{std::move(socket)};
}

Answer Node::hear() {
  std::vector<std::byte> buffer(frame::kLongestLauncherMessage);
  auto got = os::receive(socket_, buffer, 3);
  if (!got || got->bytes == 0) return {frame::Refused{{}, "gone", "the launcher said nothing"}, {}};
  auto body = frame::decode_from_launcher(std::span{buffer}.first(got->bytes));
  if (!body) return {frame::Refused{{}, "garbled", body.error().text()}, {}};
  return {*std::move(body), std::move(got->fds)};
}

Answer Node::ask(const frame::ToLauncher& request, const std::vector<const os::Fd*>& fds) {
  if (!os::send(socket_, frame::encode(request), fds)) return {frame::Refused{{}, "gone", ""}, {}};
  return hear();
}

Answer Node::launch(const frame::LaunchPlan& plan) {
  const auto encoded = frame::encode(plan);
  return ask(frame::Launch{{reinterpret_cast<const char*>(encoded.data()), encoded.size()}});
}

std::vector<frame::Held> Node::list() {
  const Answer answer = ask(frame::List{});
  const auto* page = answer.as<frame::Sandboxes>();
  return page != nullptr ? page->held : std::vector<frame::Held>{{answer.text()}};
}

void RootService::SetUp() {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is a service";
  std::array<char, 64> name{"/var/tmp/cordon-service-XXXXXX"};
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  scratch_ = name.data();
  for (const char* directory : {"run", "data"}) fs::create_directory(scratch_ / directory);
  // Only the socket's own mode keeps others away from it.
  for (const fs::path& open : {scratch_, scratch_ / "run"}) {
    ASSERT_EQ(::chmod(open.c_str(), 0755), 0);
  }
  write_floor();
}

void RootService::TearDown() {
  if (launcher_) static_cast<void>(stop(SIGTERM));
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

void RootService::write_floor(const std::string& more, std::uint32_t node_uid,
                              unsigned ranges) const {
  std::ofstream floor{scratch_ / "floor"};
  floor << "node_uid = " << node_uid << "\nfirst_id = 1610612736\nranges = " << ranges << "\n"
        << "source = " << path("data") << "\n";
  for (const char* tree : {"/usr", "/bin", "/lib", "/lib64"}) {
    if (exists(tree)) floor << "source = " << tree << "\n";
  }
  floor << more;
}

void RootService::start(std::vector<std::string> command) {
  launcher_.reset();
  for (const std::string& word :
       std::vector<std::string>{"--socket", socket(), "--floor", path("floor")}) {
    command.push_back(word);
  }
  auto started = os::spawn(command.front(), command, {}, {});
  ASSERT_TRUE(started) << started.error().text();
  launcher_.emplace(*std::move(started));
  // Until it is this one that answers: what a killed one had begun holds its socket for a moment.
  const auto said = [&] {
    auto asked = Node::connect(socket());
    return asked ? asked->hear().text() : std::string{"gone"};
  };
  ASSERT_TRUE(comes_true([&] { return !said().starts_with("gone"); }));
  // The one that asked has gone: wait until that is seen.
  ASSERT_TRUE(comes_true([&] { return said() != "busy: another node is connected"; }));
}

RootService::Outcome RootService::run_to_end() const {
  auto pipe = os::pipe2();
  if (!pipe) return {.said = pipe.error().text()};
  auto child = os::Child::start({}, [&] {
    if (::dup2(pipe->write.get(), 2) < 0) return 1;
    const std::array<std::string, 5> arguments{"cordon-launcher", "--socket", socket(), "--floor",
                                               path("floor")};
    static_cast<void>(os::execve(CORDON_LAUNCHER, arguments, {}));
    return 1;
  });
  pipe->write = os::Fd{};
  if (!child) return {.said = child.error().text()};
  const auto said = os::read_all(pipe->read, os::kSmallFile);
  const auto status = std::move(*child).wait();
  return {status ? *status : os::ExitStatus{.value = -1}, said ? *said : ""};
}

os::ExitStatus RootService::stop(int signal) {
  if (!launcher_) return {.value = -1};
  static_cast<void>(launcher_->signal(signal));
  const auto status = std::move(*launcher_).wait();
  launcher_.reset();
  return status ? *status : os::ExitStatus{.value = -1};
}

Node RootService::node() const {
  std::optional<Node> in;
  comes_true([&] {
    auto connected = Node::connect(socket());
    if (!connected || connected->hear().as<frame::Welcome>() == nullptr) return false;
    in.emplace(*std::move(connected));
    return true;
  });
  EXPECT_TRUE(in);
  return in ? *std::move(in) : Node{os::Fd{}};
}

frame::LaunchPlan RootService::plan(const std::string& id) const {
  frame::LaunchPlan plan;
  plan.id = id;
  plan.namespaces = frame::kNamespaces;
  plan.no_new_privs = true;
  plan.ids = frame::Ids::range;
  for (const char* tree : {"/usr", "/bin", "/lib", "/lib64"}) {
    if (exists(tree)) plan.binds.push_back({.source = tree, .target = tree, .optional = true});
  }
  plan.binds.push_back({.source = path("data"), .target = "/data"});
  plan.directories = {"/tmp"};
  plan.workspace = {.target = "/w"};
  plan.disk = {.bytes = 1U << 20U, .inodes = 1000};
  plan.groups = true;
  plan.limits = {.memory = 64U << 20U, .pids = 64};
  const auto landlock = os::landlock_abi();
  plan.setup.fences = {.uid = 1000,
                       .gid = 1000,
                       .filter = "strict",
                       .landlock_abi = landlock ? *landlock : 0,
                       .paths = {{"/", frame::PathUse::all}, {"/dev", frame::PathUse::device}},
                       .limits = {.open_files = 64}};
  plan.setup.disk = "/tmp";
  return plan;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::size_t count_fds(pid_t pid) {
  const fs::directory_iterator entries{"/proc/" + std::to_string(pid) + "/fd"};
  return static_cast<std::size_t>(std::distance(fs::begin(entries), fs::end(entries)));
}

bool comes_true(const std::function<bool()>& question) {
  for (int tried = 0; tried < 1000; ++tried) {
    if (question()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return false;
}

bool is_alive(const os::Fd& pidfd) {
  pollfd end{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

}  // namespace cordon::service
