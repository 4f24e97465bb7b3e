// SPDX-License-Identifier: Apache-2.0
// What runsc is asked to tell, word by word.
#include "launcher/engine_trace.h"

#include <gtest/gtest.h>

namespace cordon::launcher {
namespace {

#if defined(__x86_64__)
TEST(EngineTrace, AsksForTheseActsAndNoOthers) {
  EXPECT_EQ(
      trace_session(),
      R"({"trace_session":{"name":"Default","points":[)"
      R"({"name":"sentry/clone","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"sentry/exit_notify_parent","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/connect/exit","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/open/exit","optional_fields":[],"context_fields":["group_id","cwd"]},)"
      R"({"name":"syscall/creat/exit","optional_fields":[],"context_fields":["group_id","cwd"]},)"
      R"({"name":"syscall/openat/exit","optional_fields":["fd_path"],)"
      R"("context_fields":["group_id","cwd"]},)"
      R"({"name":"syscall/execve/exit","optional_fields":[],"context_fields":["group_id","cwd"]},)"
      R"({"name":"syscall/execveat/exit","optional_fields":["fd_path"],)"
      R"("context_fields":["group_id","cwd"]},)"
      R"({"name":"syscall/sysno/2/exit","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/sysno/85/exit","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/sysno/257/exit","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/sysno/59/exit","optional_fields":[],"context_fields":["group_id"]},)"
      R"({"name":"syscall/sysno/322/exit","optional_fields":[],"context_fields":["group_id"]}],)"
      R"("sinks":[{"name":"remote","config":{"endpoint":"/trace","retries":40,"backoff":"50us",)"
      R"("backoff_max":"10ms"}}]}})");
}
#endif

TEST(EngineTrace, AsksForNoNameThatAThreadGivesItself) {
  EXPECT_EQ(trace_session().find("process_name"), std::string::npos);
}

}  // namespace
}  // namespace cordon::launcher
