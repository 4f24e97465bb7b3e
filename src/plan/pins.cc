// SPDX-License-Identifier: Apache-2.0
#include "plan/pins.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/patterns.h"
#include "policy/glob.h"
#include "policy/host_view.h"

namespace cordon::plan {
namespace {

using policy::below;

// Orders paths so that a directory stands right before all that lies below it.
bool before(std::string_view a, std::string_view b) {
  const auto weight = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, weight, weight);
}

bool lies_below(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

class Pinning {
 public:
  Pinning(const Request& request, const Root& root, const Files& files,
          const std::vector<frame::Bind>& mounts)
      : request_{request},
        root_{root},
        files_{files},
        mounts_{mounts},
        workspace_{files.workspace},
        patterns_{patterns_of(request.policy, request.workspace)} {}

  std::vector<frame::Pin> all() {
    if (patterns_.empty()) return {};
    check_complete();
    for (const SurveyedPath& path : request_.situation.survey.found) pin_found(path);
    tidy();
    for (const Pattern& pattern : patterns_) {
      if (const frame::Bind* const mount = mount_over(pattern.place)) {
        check_in_mount(pattern, *mount);
      } else if (below(pattern.place, workspace_.target)) {
        if (pattern.literal && pattern.place != workspace_.target) pin_missing(pattern);
      } else if (!pattern.text.starts_with("**/")) {
        check_outside(pattern);
      }
    }
    tidy();
    return std::move(pins_);
  }

 private:
  static std::string_view name_of(Cover cover) { return cover == Cover::hide ? "hide" : "protect"; }

  void refuse(const Pattern& pattern, std::string why, std::string fix) {
    request_.refusals.add(
        Errc::unavailable, pattern.cover == Cover::hide ? "HIDE" : "PROTECT",
        {.tried = fmt::format("filesystem.{}: {}", name_of(pattern.cover), pattern.text),
         .rule = rule_text(*pattern.document, pattern.at),
         .why = std::move(why),
         .fix = std::move(fix)});
  }
  std::string show(const Pattern& pattern) const {
    return Request::show(*pattern.document, pattern.at);
  }

  // The pattern that speaks about `path`, for the message.
  const Pattern& pattern_for(std::string_view path, Cover cover) const {
    for (const Pattern& pattern : patterns_) {
      if (pattern.cover == cover && pattern.literal && below(path, pattern.place)) return pattern;
    }
    for (const Pattern& pattern : patterns_) {
      if (pattern.cover == cover && !pattern.literal && below(path, pattern.place)) return pattern;
    }
    return patterns_.front();
  }

  void check_complete() {
    if (request_.situation.survey.complete) return;
    const auto glob = std::ranges::find(patterns_, false, &Pattern::literal);
    const Pattern& pattern = glob == patterns_.end() ? patterns_.front() : *glob;
    refuse(pattern,
           fmt::format("the directory has more than {} entries, so that not all of them were "
                       "looked at; choose a smaller one with --workspace",
                       kMostSurveyed),
           {});
  }

  const frame::Bind* mount_over(std::string_view path) const {
    const frame::Bind* longest = nullptr;
    for (const frame::Bind& mount : mounts_) {
      if (below(path, mount.target)) longest = &mount;  // ordered by target: the last is longest
    }
    if (longest != nullptr && below(path, workspace_.target) &&
        workspace_.target.size() > longest->target.size()) {
      return nullptr;
    }
    return longest;
  }

  void pin_found(const SurveyedPath& found) {
    if (!policy::is_normal_path(found.path)) return;
    const Cover cover = cover_of(request_.policy, found.path, request_.workspace);
    if (const frame::Bind* const mount = mount_over(found.path)) {
      if (cover == Cover::hide || (cover == Cover::protect && mount->writable)) {
        refuse(
            pattern_for(found.path, cover),
            fmt::format("it matches {} in the mount at {}, and only the workspace can be held "
                        "like that; mount what lies beside it{}",
                        found.path, mount->target, cover == Cover::protect ? ", or read-only" : ""),
            show(pattern_for(found.path, cover)));
      }
      return;
    }
    if (!below(found.path, workspace_.target) || found.path == workspace_.target) return;
    const std::string path = relative_to(found.path, workspace_.target);
    if (cover == Cover::none) {
      on_the_way_.push_back({path, found.kind});
    } else if (cover == Cover::hide || workspace_.writable) {
      if (found.kind == PathKind::link) {
        links_.push_back(path);
        refuse(pattern_for(found.path, cover),
               fmt::format("{} is a symbolic link, over which nothing can be mounted", path),
               show(pattern_for(found.path, cover)));
        return;
      }
      pins_.push_back(
          {.path = path,
           .kind = cover == Cover::hide ? frame::PinKind::hide : frame::PinKind::read_only,
           .directory = found.kind == PathKind::directory,
           .placeholder = false});
    }
  }

  // True when no workload can make `path` any more.
  bool is_pinned(const std::string& path) const {
    return std::ranges::any_of(pins_, [&](const frame::Pin& pin) {
      return pin.path == path || lies_below(path, pin.path);
    });
  }

  void pin_missing(const Pattern& pattern) {
    const std::string path = relative_to(pattern.place, workspace_.target);
    if (is_pinned(path) || (pattern.cover == Cover::protect && !workspace_.writable)) return;
    if (std::ranges::find(links_, path) != links_.end()) return;  // refused already
    // A file that stands where a directory would have to be: as long as it stays, the name cannot
    // appear.
    const auto blocks = [&](const SurveyedPath& one) { return lies_below(path, one.path); };
    if (const auto file = std::ranges::find_if(on_the_way_, blocks); file != on_the_way_.end()) {
      if (file->kind == PathKind::link) {
        refuse(pattern, fmt::format("{} is a symbolic link, which can be turned", file->path),
               show(pattern));
      } else if (workspace_.writable) {
        pins_.push_back({file->path, frame::PinKind::read_only, false, false});
      }
      return;
    }
    if (workspace_.kind == frame::WorkspaceKind::live) {
      refuse(pattern,
             fmt::format("{} does not exist, and in a live workspace nothing can keep it from "
                         "being made; with review it can be held",
                         path),
             request_.with_flag("--review"));
      return;
    }
    // A directory, because an empty one is of no meaning to the tools that read such names.
    pins_.push_back(
        {.path = path,
         .kind = pattern.cover == Cover::hide ? frame::PinKind::hide : frame::PinKind::read_only,
         .directory = true,
         .placeholder = true});
  }

  // What exists there was told by the survey.
  void check_in_mount(const Pattern& pattern, const frame::Bind& mount) {
    if (!pattern.literal || pattern.place == mount.target) return;
    if (pattern.cover == Cover::protect && !mount.writable) return;
    refuse(pattern,
           fmt::format("nothing can keep {} from appearing in the mount at {}", pattern.place,
                       mount.target),
           show(pattern));
  }

  // Beside workspace and mounts only what is absent or read-only anyway can be promised.
  void check_outside(const Pattern& pattern) {
    const std::string& place = pattern.place;
    const bool ours = std::ranges::any_of(files_.directories,
                                          [&](const std::string& own) {
                                            return below(place, own) || below(own, place);
                                          }) ||
                      below(place, "/dev") || below(place, "/proc");
    const bool of_system =
        root_.source != frame::RootSource::host || policy::is_shown_of_host(place);
    const bool gone = pattern.literal && root_.source == frame::RootSource::host &&
                      std::ranges::none_of(files_.binds,
                                           [&](const frame::Bind& bind) {
                                             return below(place, bind.target).has_value();
                                           }) &&
                      !ours;
    const bool held = pattern.cover == Cover::protect ? !ours : (gone || (!ours && !of_system));
    if (held) return;
    refuse(pattern, "it lies outside the workspace, where nothing can be laid over single files",
           show(pattern));
  }

  // By path; what lies below something hidden, or twice protected, goes.
  void tidy() {
    std::ranges::sort(pins_, [](const frame::Pin& a, const frame::Pin& b) {
      return a.path == b.path ? a.kind < b.kind : before(a.path, b.path);
    });
    std::vector<frame::Pin> kept;
    std::vector<std::size_t> above;  // those of `kept` that the next may lie below, outermost first
    for (frame::Pin& pin : pins_) {
      const auto covers = [&](std::size_t i) {
        return kept[i].path == pin.path || lies_below(pin.path, kept[i].path);
      };
      while (!above.empty() && !covers(above.back())) above.pop_back();
      const bool needless = std::ranges::any_of(above, [&](std::size_t i) {
        return kept[i].kind == frame::PinKind::hide || kept[i].kind == pin.kind;
      });
      if (needless) continue;
      above.push_back(kept.size());
      kept.push_back(std::move(pin));
    }
    pins_ = std::move(kept);
  }

  const Request& request_;
  const Root& root_;
  const Files& files_;
  const std::vector<frame::Bind>& mounts_;
  const frame::Workspace& workspace_;
  std::vector<Pattern> patterns_;
  std::vector<SurveyedPath> on_the_way_;  // relative to the workspace; covered by no pattern
  std::vector<std::string> links_;        // that would have to be pinned
  std::vector<frame::Pin> pins_;
};

}  // namespace

std::vector<frame::Pin> pins_of(const Request& request, const Root& root, const Files& files,
                                const std::vector<frame::Bind>& mounts) {
  return Pinning{request, root, files, mounts}.all();
}

}  // namespace cordon::plan
