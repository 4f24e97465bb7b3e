// SPDX-License-Identifier: Apache-2.0
#include "api/rest/port_exchange.h"

#include "http/connection.h"

namespace cordon::api {
namespace {

constexpr http::HeadLimits kPortHead{.bytes = std::size_t{32} << 10U, .fields = 100};

class TunnelEnd final : public http::FarEnd {
 public:
  explicit TunnelEnd(std::unique_ptr<sandbox::Tunnel> tunnel) : tunnel_{std::move(tunnel)} {}
  async::Task<std::string> read_some() override { return tunnel_->read_some(); }
  async::Task<void> write(std::string bytes) override { return tunnel_->write(std::move(bytes)); }
  void shutdown_write() override { tunnel_->shutdown_write(); }

 private:
  std::unique_ptr<sandbox::Tunnel> tunnel_;
};

}  // namespace

http::RequestHead inner_head(const http::RequestHead& outer, std::string path, std::uint16_t port,
                             Credentials credentials) {
  http::RequestHead inner = outer;
  inner.target = {.path = std::move(path), .query = outer.target.query};
  inner.version = http::Version::http11;
  inner.host = {.host = "localhost", .port = port};
  http::strip_hop_by_hop(inner.fields);
  for (const std::string_view ours :
       {"proxy-authorization", "cordon-tenant", "cordon-chain", "expect", "e2b-sandbox-id",
        "e2b-sandbox-port", "e2b-traffic-access-token", "x-access-token"}) {
    http::remove_all_spellings(inner.fields, ours);
  }
  if (credentials == Credentials::of_the_inner) return inner;
  for (const std::string_view shown : {"authorization", "x-api-key"}) {
    http::remove_all_spellings(inner.fields, shown);
  }
  return inner;
}

http::Fields outer_fields(http::Fields fields, std::string request) {
  http::strip_hop_by_hop(fields);
  http::remove_all_spellings(fields, "date");
  // Gateways believe what a node says in them: where a sandbox has gone, how much room there is.
  http::remove_all_that_begin(fields, "cordon-");
  fields.push_back({"Cordon-Request", std::move(request)});
  return fields;
}

PortExchange::PortExchange(const asio::any_io_executor& executor, http::Exchange& exchange,
                           std::unique_ptr<sandbox::Tunnel> tunnel, std::string request,
                           PortTimes times)
    : forward_{executor,
               exchange,
               std::make_unique<TunnelEnd>(std::move(tunnel)),
               {.whom = "the server inside",
                .answer = kPortHead,
                .outer_fields =
                    [request = std::move(request)](http::Fields fields) {
                      return outer_fields(std::move(fields), request);
                    },
                .times = times}} {}

}  // namespace cordon::api
