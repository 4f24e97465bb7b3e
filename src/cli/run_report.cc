// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.h"

#include <fcntl.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/id.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/random.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

json::object to_value(const Verdict& verdict) {
  return {{"ending", to_string(verdict.ending)},
          {"status", verdict.status},
          {"limit", verdict.limit},
          {"peak", verdict.peak},
          {"culprit", verdict.culprit},
          {"explanation", verdict.explanation},
          {"line", to_line(verdict)}};
}

json::object to_value(const Denial& denial) {
  return {{"code", denial.code},         {"tried", denial.tried},
          {"resolved", denial.resolved}, {"rule", denial.rule},
          {"why", denial.why},           {"fix", denial.fix},
          {"action", denial.action},     {"retryable", denial.retry_helps},
          {"count", denial.count}};
}

json::object to_value(const Enforcement& enforcement) {
  json::array mechanisms;
  for (const Mechanism& mechanism : enforcement.mechanisms) {
    mechanisms.push_back(json::object{{"name", mechanism.name},
                                      {"hold", to_string(mechanism.hold)},
                                      {"detail", mechanism.detail}});
  }
  return {{"mechanisms", std::move(mechanisms)}};
}

json::value or_null(const std::optional<std::uint64_t>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object to_value(const frame::GroupUse& use) {
  return {{"memory_peak", or_null(use.memory_peak)},
          {"oom_kills", or_null(use.oom_kills)},
          {"pids_peak", or_null(use.pids_peak)},
          {"pids_refused", or_null(use.pids_refused)},
          {"cpu_microseconds", or_null(use.cpu_microseconds)}};
}

// JSON must be UTF-8, and a command need not be.
json::array texts(const std::vector<std::string>& items) {
  json::array all;
  for (const std::string& item : items) all.push_back(json::string{item});
  return all;
}

}  // namespace

std::string to_json(const RunReport& report) {
  json::array denials;
  for (const Denial& denial : report.denials) denials.push_back(to_value(denial));
  json::object all{{"id", report.id},
                   {"command", texts(report.command)},
                   {"level", to_string(report.level)},
                   {"exit", report.exit},
                   {"enforcement", to_value(report.enforcement)},
                   {"denials", std::move(denials)}};
  if (!report.review.empty()) all.emplace("review", report.review);
  if (!report.failure.empty()) all.emplace("failure", report.failure);
  if (report.outcome) {
    all.emplace("verdict", to_value(report.outcome->verdict));
    all.emplace("usage", to_value(report.outcome->use));
    all.emplace("output_bytes", report.outcome->output_bytes);
    all.emplace("wall_ms", report.outcome->wall.count());
  }
  return json::serialize(all) + "\n";
}

Result<ReportFile> ReportFile::open(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  if (name.empty()) return Error{Errc::invalid, "--json " + file + ": not a file"};
  auto dir = os::openat(os::at_cwd(), parent.c_str(), O_PATH | O_DIRECTORY);
  if (!dir) return std::move(dir).error().with("--json " + file);
  return ReportFile{*std::move(dir), name};
}

Status ReportFile::write(const RunReport& report) const {
  // A name that the sandbox could not know, made anew: nothing that it put there is followed.
  TRY(const auto random, os::random_bytes<10>());
  const std::string part = ".cordon-report-" + base32(random);
  Status done = os::create_file(dir_, part.c_str(), to_json(report), 0600);
  if (done) done = os::renameat(dir_, part.c_str(), dir_, name_.c_str(), os::Replace::allow);
  if (!done) {
    static_cast<void>(os::unlinkat(dir_, part.c_str()));
    return std::move(done).error().with("the report " + name_);
  }
  return {};
}

}  // namespace cordon::cli
