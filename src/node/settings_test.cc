// SPDX-License-Identifier: Apache-2.0
// A node starts with settings that were understood, or says what is wrong with which line.
#include "node/settings.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

// Everything that is wrong, a line each.
std::string wrong(std::string_view text) {
  policy::Problems problems{"cordond.toml"};
  const auto settings = read_settings(text, problems);
  std::string all;
  for (const auto& problem : problems.all()) all += to_string(problem) + "\n";
  if (all.empty()) return settings ? "" : settings.error().text();
  all.pop_back();
  return all;
}

TEST(Settings, AreReadWhole) {
  policy::Problems problems{"cordond.toml"};
  const auto settings = read_settings(R"(
name = "box-1"
state = "/srv/cordon/state"
launcher = "/run/c/launcher"
token_key = "/etc/cordon/token.key"
ceiling = "/etc/cordon/ceiling.toml"
default_image = "debian-12"
[listen]
unix = "/run/c/api"
tcp = "[2001:db8::7]:443"
certificate = "/etc/cordon/tls.pem"
key = "/etc/cordon/tls.key"
client_authority = "/etc/cordon/clients.pem"
origins = ["https://desk.example.com", "http://127.0.0.1:3000"]
[images.debian-12]
dir = "/srv/images/debian-12"
[quota]
sandboxes = 100
[transfers]
at_once = 3
entries = 500
bytes = "1Gi"
[audit]
durability = "strict"
milliseconds = 20
head_records = 500
head_seconds = 60
keep_days = 90
[tenants.team-1]
sandboxes = 2000
creates_per_second = 50
cpus = "1.5"
memory = "4Gi"
requests = 7
ceiling = "/etc/cordon/acme.toml"
)",
                                      problems);
  ASSERT_TRUE(settings) << settings.error().text();
  const Settings expected{
      .name = "box-1",
      .state = "/srv/cordon/state",
      .launcher = "/run/c/launcher",
      .unix_socket = "/run/c/api",
      .tcp = TcpAddress{"2001:db8::7", 443},
      .certificate = "/etc/cordon/tls.pem",
      .key = "/etc/cordon/tls.key",
      .origins = {"https://desk.example.com", "http://127.0.0.1:3000"},
      .client_authority = "/etc/cordon/clients.pem",
      .token_key = "/etc/cordon/token.key",
      .ceiling = "/etc/cordon/ceiling.toml",
      .images = {{"debian-12", "/srv/images/debian-12"}},
      .default_image = "debian-12",
      .quota = {.sandboxes = 100},
      .tenants = {{"team-1", Tenant{.quota = {.sandboxes = 2000,
                                              .creates_per_second = 50,
                                              .milli_cpus = 1500,
                                              .memory = std::uint64_t{4} << 30U,
                                              .requests = 7},
                                    .ceiling = "/etc/cordon/acme.toml"}}},
      .transfers = {.at_once = 3, .entries = 500, .bytes = std::uint64_t{1} << 30U},
      .audit = {.durability = AuditDurability::strict,
                .every = std::chrono::milliseconds{20},
                .head_records = 500,
                .head_every = std::chrono::seconds{60},
                .keep_days = 90}};
  EXPECT_EQ(*settings, expected);
}

// A gateway knows a node by this name alone: its tokens, its certificate.
TEST(Settings, InAFleetNameTheNodeByItsPlace) {
  policy::Problems problems{"cordond.toml"};
  const auto settings = read_settings("[fleet]\ncell = 7\nnode = 42\nslots = 100", problems);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->name, "node-7-42");
  EXPECT_EQ(settings->fleet, (FleetPlace{.cell = 7, .node = 42, .slots = 100}));
}

TEST(Settings, HaveDefaultsForAll) { EXPECT_EQ(wrong(""), ""); }

struct Wrong {
  const char* name;
  const char* text;
  const char* said;
};
class SettingsRefuse : public testing::TestWithParam<Wrong> {};

TEST_P(SettingsRefuse, ALineWith) { EXPECT_EQ(wrong(GetParam().text), GetParam().said); }

const Wrong kWrong[] = {
    {"AKeyThatIsMistyped", "[listen]\ntpc = \"127.0.0.1:1\"",
     "cordond.toml:2:1: unknown key `tpc` in [listen]; did you mean `tcp`?"},
    {"AnotherKind", "[transfers]\nat_once = \"many\"",
     "cordond.toml:2:11: `at_once`: expected a whole number, found a text"},
    {"ARelativePath", "state = \"var\"",
     "cordond.toml:1:9: `state`: `var` is no absolute path without `.`, `..`, `//` or a slash at "
     "the end"},
    {"APathThatClimbs", "state = \"/srv/../etc\"",
     "cordond.toml:1:9: `state`: `/srv/../etc` is no absolute path without `.`, `..`, `//` or a "
     "slash at the end"},
    {"ANameForAnAddress", "[listen]\ntcp = \"localhost:7070\"",
     "cordond.toml:2:7: `tcp`: `localhost:7070` is no ADDRESS:PORT; write \"127.0.0.1:7070\", or "
     "\"[::1]:7070\""},
    {"TokensInTheClear", "[listen]\ntcp = \"0.0.0.0:80\"",
     "cordond.toml:2:7: `tcp`: `0.0.0.0` is reachable from elsewhere, and tokens would go there in "
     "the clear; name `certificate` and `key`, or listen on 127.0.0.1"},
    {"ACertificateWithoutItsKey", "[listen]\ncertificate = \"/c\"",
     "cordond.toml:2:15: `certificate` and `key` go together: name both, or none"},
    {"ClientsWithoutTls", "[listen]\nclient_authority = \"/c\"",
     "cordond.toml:2:20: `client_authority`: clients are asked for a certificate under TLS only; "
     "name `certificate` and `key`"},
    {"AnOriginWithAPath", "[listen]\norigins = [\"https://a.example/\"]",
     "cordond.toml:2:11: `origins`: `https://a.example/` is no origin; write \"https://HOST\" or "
     "\"https://HOST:PORT\", in small letters"},
    {"AnyOrigin", "[listen]\norigins = [\"*\"]",
     "cordond.toml:2:11: `origins`: `*` is no origin; write \"https://HOST\" or "
     "\"https://HOST:PORT\", in small letters"},
    {"ADurabilityOfAnotherName", "[audit]\ndurability = \"safe\"",
     "cordond.toml:2:14: `durability`: `safe` is not known; allowed: group or strict"},
    {"AnImageWithoutATree", "[images.a]",
     "cordond.toml:1:9: [images.a] needs `dir`, the directory of its tree"},
    {"AnImageThatIsNotThere", "default_image = \"a\"",
     "cordond.toml:1:17: `default_image`: there is no [images.a]"},
    {"ATenantOfOtherLetters", "[tenants.ACME]",
     "cordond.toml:1:10: `ACME` is no name of a tenant; allowed are 1 to 64 of a-z, 0-9 and -"},
    {"AnAudienceOfOtherLetters", "name = \"Box\"",
     "cordond.toml:1:8: `name`: `Box` is none; allowed are 1 to 32 of a-z, 0-9 and -"},
    {"APlaceInAFleetThatLacksSlots", "[fleet]\ncell = 1\nnode = 2",
     "cordond.toml:1:1: [fleet] needs `cell`, `node` and `slots`; `slots` is missing"},
    {"ANameOfAnotherNode", "name = \"box\"\n[fleet]\ncell = 1\nnode = 2\nslots = 3",
     "cordond.toml:1:8: `name`: node 2 of cell 1 is called \"node-1-2\"; leave it out"},
    {"NoTransferAtAll", "[transfers]\nat_once = 0",
     "cordond.toml:2:11: `at_once`: 0 is out of range; allowed are 1 to 1000"},
    {"TwoMistakes", "[transfers]\nat_once = -1\nfoo = 1",
     "cordond.toml:2:11: `at_once`: -1 is out of range; allowed are 1 to 1000\n"
     "cordond.toml:3:1: unknown key `foo` in [transfers]; allowed: at_once, entries, bytes"},
};
INSTANTIATE_TEST_SUITE_P(Line, SettingsRefuse, testing::ValuesIn(kWrong),
                         [](const auto& info) { return std::string{info.param.name}; });

}  // namespace
}  // namespace cordon::node
