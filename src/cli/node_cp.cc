// SPDX-License-Identifier: Apache-2.0
// cordon cp: files and trees into a sandbox of a node, and out of it.
#include <chrono>
#include <memory>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "cli/copy.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "os/standard_streams.h"
#include "policy/text.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;
using Steady = std::chrono::steady_clock;

struct CpFlags {
  NodeOptions node;
  std::string from;
  std::string to;
};

// A line on a terminal that tells how far it has come, once it takes long.
class Progress {
 public:
  Progress(std::ostream& err, bool is_shown) : err_{err}, is_shown_{is_shown} {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (has_line_) err_ << "\r\x1b[K" << std::flush;
  }
  void move(std::uint64_t bytes) {
    bytes_ += bytes;
    const auto now = Steady::now();
    if (!is_shown_ || now < next_) return;
    next_ = now + std::chrono::milliseconds{200};
    has_line_ = true;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    constexpr double kMebi = 1024.0 * 1024.0;
    err_ << fmt::format("\r{:.1f} MiB, {:.1f} MiB/s\x1b[K", static_cast<double>(bytes_) / kMebi,
                        static_cast<double>(bytes_) / kMebi / seconds)
         << std::flush;
  }

 private:
  std::ostream& err_;
  bool is_shown_;
  bool has_line_ = false;
  std::uint64_t bytes_ = 0;
  Steady::time_point began_ = Steady::now();
  Steady::time_point next_ = began_ + std::chrono::seconds{1};
};

void report(const CpFlags& flags, const Copied& copied, Context& context) {
  constexpr std::size_t kMostNamed = 10;
  std::size_t named = 0;
  for (const std::string& name : copied.left_out) {
    if (++named > kMostNamed) break;
    context.err << "cordon: left out: " << terminal::printable(name)
                << " is a link that leads out of the tree\n";
  }
  if (copied.left_out.size() > kMostNamed) {
    context.err << "cordon: left out: " << copied.left_out.size() - kMostNamed << " more\n";
  }
  if (!flags.node.json) return;
  json::array left_out;
  for (const std::string& name : copied.left_out) left_out.emplace_back(policy::printable(name));
  context.out << json::serialize(json::object{{"entries", copied.entries},
                                              {"bytes", copied.bytes},
                                              {"left_out", std::move(left_out)}})
              << '\n';
}

void copy(const CpFlags& flags, Context& context) {
  const CopyPlace from = read_copy_place(flags.from);
  const CopyPlace to = read_copy_place(flags.to);
  if (const Status checked = check_copy(from, to); !checked) {
    return fail_typed(context, checked.error());
  }
  if (to.is_stream() && flags.node.json) {
    return fail_typed(context, Error{Errc::invalid, "--json and -: only one goes to the output"});
  }
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  Progress progress{context.err, !flags.node.json && os::is_standard_terminal(STDERR_FILENO)};
  const CopyOrder order{.node = *node, .from = from, .to = to, .moved = [&](std::uint64_t bytes) {
                          progress.move(bytes);
                        }};
  asio::io_context loop{1};
  const auto outcome =
      async::block_on(loop, from.sandbox.empty() ? copy_in(order) : copy_out(order));
  if (!outcome) return fail(context, outcome.error());
  if (const auto* refusal = std::get_if<NodeAnswer>(&*outcome)) {
    return refuse(context, flags.node, *refusal);
  }
  report(flags, std::get<Copied>(*outcome), context);
}

}  // namespace

void add_cp(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CpFlags>();
  CLI::App* const verb =
      app.add_subcommand("cp", "Copies files and trees into a sandbox, and out of it");
  verb->group(kNodeVerbs);
  verb->add_option("SOURCE", flags->from, "PATH, ID:PATH, or - for a tar")->required();
  verb->add_option("DESTINATION", flags->to, "ID:PATH, PATH, or - for a tar")->required();
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { copy(*flags, context); });
}

}  // namespace cordon::cli
