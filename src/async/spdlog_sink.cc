// SPDX-License-Identifier: Apache-2.0
// An asynchronous spdlog logger whose only pattern is our own line.
#include "async/spdlog_sink.h"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace cordon::async {
namespace {

constexpr std::size_t kQueuedLines = 8192;

spdlog::level::level_enum level_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

struct SpdlogSink::Writer {
  std::shared_ptr<spdlog::details::thread_pool> thread;
  std::shared_ptr<spdlog::async_logger> logger;

  explicit Writer(spdlog::sink_ptr out)
      : thread{std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1)},
        // Shared because spdlog's queue holds the logger of each line it has not yet written.
        logger{std::make_shared<spdlog::async_logger>(
            "cordon", std::move(out), thread, spdlog::async_overflow_policy::overrun_oldest)} {
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::warn);
    // A log that cannot be written has nowhere to say so, and must not end the program.
    logger->set_error_handler([](const std::string&) {});
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    try {
      logger->flush();
    } catch (...) {  // NOLINT(bugprone-empty-catch): nowhere to report a failing log
    }
    // Writes the queue out and ends, with all that it held of the logger: that dies here.
    thread.reset();
  }
};

SpdlogSink::SpdlogSink(std::unique_ptr<Writer> writer, const Clock& clock)
    : writer_{std::move(writer)}, clock_{clock} {}

SpdlogSink::~SpdlogSink() = default;

Result<std::unique_ptr<SpdlogSink>> SpdlogSink::to_file(const std::filesystem::path& path,
                                                        const Clock& clock) {
  try {
    auto out = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    return std::unique_ptr<SpdlogSink>{
        new SpdlogSink{std::make_unique<Writer>(std::move(out)), clock}};
  } catch (const spdlog::spdlog_ex& error) {
    return Error{Errc::unavailable, error.what()}.with("log file");
  }
}

std::unique_ptr<SpdlogSink> SpdlogSink::to_stderr(const Clock& clock) {
  auto out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  return std::unique_ptr<SpdlogSink>{
      new SpdlogSink{std::make_unique<Writer>(std::move(out)), clock}};
}

void SpdlogSink::write(const LogRecord& record) noexcept {
  try {
    writer_->logger->log(level_of(record.level), to_json_line(record, clock_.wall()));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the record is lost, not the program
  }
}

std::size_t SpdlogSink::dropped() const noexcept { return writer_->thread->overrun_counter(); }

}  // namespace cordon::async
