// SPDX-License-Identifier: Apache-2.0
// cordon audit tail, query and export: records, as they are or in words.
#include <chrono>
#include <deque>
#include <functional>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "audit/log_reader.h"
#include "audit/query.h"
#include "cli/audit_verbs.h"
#include "cli/token_verbs.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

void print(std::string_view line, const audit::Record* record, bool json, std::ostream& out) {
  if (json) {
    out << line << '\n';
  } else if (record != nullptr) {
    out << words_of(*record);
  } else {
    out << "a record of a newer version; --json prints it\n";
  }
}

Status tail(const AuditOptions& options, Context& context) {
  TRY(const audit::Query query, audit::Query::parse(options.terms));
  TRY(os::Fd directory, open_log(options, context));
  TRY(os::Fd again, os::duplicate(directory));
  TRY(audit::LogReader all, audit::LogReader::open(std::move(again)));
  // The numbers of the last ones that are wanted: only these are kept, and read once more.
  std::deque<std::uint64_t> last;
  TRY_DO(each_record(all, [&](std::string_view, const audit::Record* record) {
    if (record != nullptr && !query.accepts(*record)) return true;
    if (options.last == 0) return true;
    if (last.size() == options.last) last.pop_front();
    last.push_back(all.number() - 1);
    return true;
  }));
  const std::uint64_t end = all.number();
  TRY(audit::LogReader reader,
      audit::LogReader::open(std::move(directory), last.empty() ? end : last.front()));
  const auto show = [&](std::string_view line, const audit::Record* record) {
    if (record == nullptr || query.accepts(*record)) print(line, record, options.json, context.out);
    return static_cast<bool>(context.out);
  };
  TRY_DO(each_record(reader, show));
  while (options.follow && context.out) {
    context.out.flush();
    std::this_thread::sleep_for(kBetweenLooks);
    TRY_DO(each_record(reader, show));
  }
  return {};
}

Result<audit::LogReader> open_reader(const AuditOptions& options, const Context& context) {
  TRY(os::Fd directory, open_log(options, context));
  if (options.from) return audit::LogReader::open(std::move(directory), *options.from);
  return audit::LogReader::open(std::move(directory));
}

Status query(const AuditOptions& options, Context& context, bool as_lines) {
  TRY(const audit::Query query, audit::Query::parse(options.terms));
  TRY(audit::LogReader reader, open_reader(options, context));
  std::uint64_t count = 0;
  TRY_DO(each_record(reader, [&](std::string_view line, const audit::Record* record) {
    if (options.to && reader.number() > *options.to + 1) return false;
    if (record != nullptr && !query.accepts(*record)) return true;
    ++count;
    if (!options.count) print(line, record, as_lines, context.out);
    return static_cast<bool>(context.out);
  }));
  if (options.count && options.json) {
    context.out << fmt::format("{{\"count\":{}}}\n", count);
  } else if (options.count) {
    context.out << count << '\n';
  }
  return {};
}

// What was typed is wrong: another exit code than a log that cannot be read.
void tell(const Status& done, Context& context) {
  if (done) return;
  if (done.error().code() == Errc::invalid) return fail_typed(context, done.error());
  fail(context, done.error());
}

}  // namespace

Status each_record(
    audit::LogReader& reader,
    const std::function<bool(std::string_view line, const audit::Record* record)>& take) {
  while (true) {
    TRY(const auto line, reader.next());
    if (!line) return {};
    const auto record = audit::decode(*line);
    if (!take(*line, record ? &*record : nullptr)) return {};
  }
}

std::string words_of(const audit::Record& record) {
  const auto fields = fields_of(record);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(record.time);
  std::string words = fmt::format("{:>6} {} {:<18}", record.number,
                                  date_words(std::chrono::sys_seconds{seconds.time_since_epoch()}),
                                  audit::name_of(record.event));
  for (const audit::RecordField& field : fields) {
    if (field.name == "seq" || field.name == "time_ms" || field.name == "event") continue;
    words += ' ' + field.name + '=';
    if (const auto* number = std::get_if<std::uint64_t>(&field.value)) {
      words += std::to_string(*number);
    } else {
      words += review::printable(std::get<std::string>(field.value));
    }
  }
  return words + '\n';
}

void audit_tail(const AuditOptions& options, Context& context) {
  tell(tail(options, context), context);
}

void audit_query(const AuditOptions& options, Context& context) {
  tell(query(options, context, options.json), context);
}

void audit_export(const AuditOptions& options, Context& context) {
  tell(query(options, context, true), context);
}

}  // namespace cordon::cli
