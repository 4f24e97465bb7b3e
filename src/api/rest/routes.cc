// SPDX-License-Identifier: Apache-2.0
#include "api/rest/routes.h"

#include <array>

#include "api/rest/rest.h"

namespace cordon::api {
namespace {

using token::Operation;

constexpr std::array kRoutes = {
    Route{"GET", "/v1/health", {}, &Rest::health},
    Route{"GET", "/v1/node", Operation::node_read, &Rest::node},
    Route{"GET", "/v1/node/census", Operation::node_configure, &Rest::stream_census, true},
    Route{"POST", "/v1/node/drain", Operation::node_drain, &Rest::drain_node},
    Route{"POST", "/v1/node/resume", Operation::node_drain, &Rest::resume_node},
    Route{"PUT", "/v1/node/policy", Operation::node_configure, &Rest::put_policy},
    Route{"DELETE", "/v1/node/policy", Operation::node_configure, &Rest::drop_policy},
    Route{"POST", "/v1/node/departures", Operation::sandbox_move, &Rest::leave_sandbox},
    Route{"POST", "/v1/node/departures/{id}/check", Operation::sandbox_move, &Rest::check_leaving},
    Route{"GET", "/v1/node/departures/{id}/tree", Operation::sandbox_move, &Rest::read_leaving,
          true},
    Route{"POST", "/v1/node/departures/{id}/end", Operation::sandbox_move, &Rest::end_leaving},
    Route{"DELETE", "/v1/node/departures/{id}", Operation::sandbox_move, &Rest::stay_sandbox},
    Route{"POST", "/v1/node/arrivals", Operation::sandbox_move, &Rest::take_arrival},
    Route{"PUT", "/v1/node/arrivals/{id}/tree", Operation::sandbox_move, &Rest::write_arriving,
          true},
    Route{"POST", "/v1/node/arrivals/{id}/check", Operation::sandbox_move, &Rest::check_arrival},
    Route{"POST", "/v1/node/arrivals/{id}/ready", Operation::sandbox_move, &Rest::ready_arrival},
    Route{"POST", "/v1/node/arrivals/{id}/settle", Operation::sandbox_move, &Rest::settle_arrival},
    Route{"DELETE", "/v1/node/arrivals/{id}", Operation::sandbox_move, &Rest::turn_back_arrival},
    Route{"GET", "/metrics", Operation::metrics_read, &Rest::metrics},
    Route{"POST", "/v1/run", Operation::sandbox_create, &Rest::run, true},
    Route{"POST", "/v1/tokens/revoke", Operation::token_revoke, &Rest::revoke_token},
    Route{"POST", "/v1/keys", Operation::key_create, &Rest::create_key},
    Route{"GET", "/v1/keys", Operation::key_list, &Rest::list_keys},
    Route{"DELETE", "/v1/keys/{key}", Operation::key_delete, &Rest::delete_key},
    Route{"PUT", "/v1/secrets/{name}", Operation::secret_write, &Rest::put_secret},
    Route{"GET", "/v1/secrets", Operation::secret_list, &Rest::list_secrets},
    Route{"DELETE", "/v1/secrets/{name}", Operation::secret_delete, &Rest::delete_secret},
    Route{"POST", "/v1/sandboxes", Operation::sandbox_create, &Rest::create_sandbox},
    Route{"GET", "/v1/sandboxes", Operation::sandbox_read, &Rest::list_sandboxes},
    Route{"GET", "/v1/sandboxes/{id}", Operation::sandbox_read, &Rest::get_sandbox},
    Route{"PATCH", "/v1/sandboxes/{id}", Operation::sandbox_change, &Rest::change_sandbox},
    Route{"DELETE", "/v1/sandboxes/{id}", Operation::sandbox_destroy, &Rest::delete_sandbox},
    Route{"POST", "/v1/sandboxes/{id}/run", Operation::process_start, &Rest::run_in_sandbox, true},
    Route{"POST", "/v1/sandboxes/{id}/processes", Operation::process_start, &Rest::start_process},
    Route{"GET", "/v1/sandboxes/{id}/processes", Operation::process_read, &Rest::list_processes},
    Route{"GET", "/v1/sandboxes/{id}/processes/{process}", Operation::process_read,
          &Rest::get_process},
    Route{"GET", "/v1/sandboxes/{id}/processes/{process}/output", Operation::process_read,
          &Rest::stream_output, true},
    Route{"GET", "/v1/sandboxes/{id}/processes/{process}/attach", Operation::process_input,
          &Rest::attach_process, true},
    Route{"POST", "/v1/sandboxes/{id}/processes/{process}/acknowledge", Operation::process_read,
          &Rest::acknowledge_output},
    Route{"GET", "/v1/sandboxes/{id}/processes/{process}/wait", Operation::process_read,
          &Rest::wait_process, true},
    Route{"POST", "/v1/sandboxes/{id}/processes/{process}/input", Operation::process_input,
          &Rest::write_input, true},
    Route{"POST", "/v1/sandboxes/{id}/processes/{process}/signal", Operation::process_signal,
          &Rest::signal_process},
    Route{"GET", "/v1/sandboxes/{id}/files", Operation::file_read, &Rest::read_file, true},
    Route{"PUT", "/v1/sandboxes/{id}/files", Operation::file_write, &Rest::write_file, true},
    Route{"DELETE", "/v1/sandboxes/{id}/files", Operation::file_write, &Rest::remove_file},
    Route{"GET", "/v1/sandboxes/{id}/files/list", Operation::file_read, &Rest::list_files},
    Route{"GET", "/v1/sandboxes/{id}/files/stat", Operation::file_read, &Rest::stat_file},
    Route{"POST", "/v1/sandboxes/{id}/files/directory", Operation::file_write,
          &Rest::make_directory},
    Route{"POST", "/v1/sandboxes/{id}/files/move", Operation::file_write, &Rest::move_file},
    Route{"GET", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"HEAD", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"POST", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"PUT", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"PATCH", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"DELETE", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"OPTIONS", "/v1/sandboxes/{id}/ports/{port}/{path...}", Operation::tunnel_open,
          &Rest::proxy_port, true, true},
    Route{"GET", "/v1/sandboxes/{id}/tree", Operation::file_read, &Rest::read_tree, true},
    Route{"PUT", "/v1/sandboxes/{id}/tree", Operation::file_write, &Rest::write_tree, true},
    Route{"GET", "/v1/sandboxes/{id}/files/watch", Operation::file_read, &Rest::watch_files, true},
    Route{"GET", "/v1/audit", Operation::audit_read, &Rest::stream_audit, true},
    Route{"GET", "/v1/events", Operation::event_read, &Rest::stream_events, true},
    Route{"GET", "/v1/sandboxes/{id}/events", Operation::event_read, &Rest::stream_sandbox_events,
          true},
};

// The next segment, without its slash.
std::string_view cut_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view path, std::vector<std::string>& places) {
  while (pattern.starts_with('/') && path.starts_with('/')) {
    if (pattern == "/{path...}") {
      places.emplace_back(path);
      return true;
    }
    const std::string_view wanted = cut_segment(pattern);
    const std::string_view found = cut_segment(path);
    if (!wanted.starts_with('{')) {
      if (wanted != found) return false;
    } else if (found.empty() || found.find('%') != std::string_view::npos) {
      return false;
    } else {
      places.emplace_back(found);
    }
  }
  return pattern.empty() && path.empty();
}

std::span<const Route> all_routes() noexcept { return kRoutes; }

Match match(std::string_view method, std::string_view path) {
  Match result;
  for (const Route& route : kRoutes) {
    std::vector<std::string> places;
    if (!fits(route.pattern, path, places)) continue;
    if (route.method == method) return {.route = &route, .places = std::move(places)};
    if (!result.allowed.empty()) result.allowed += ", ";
    result.allowed += route.method;
  }
  return result;
}

}  // namespace cordon::api
