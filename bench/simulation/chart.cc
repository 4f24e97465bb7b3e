// SPDX-License-Identifier: Apache-2.0
#include "simulation/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace cordon::simulation {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 320;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 80;
constexpr double kBottom = 46;
constexpr std::array kColours = {"#2a7de1", "#d97706", "#9a9a9a"};

// What lies between two numbers, as a part.
struct Scale {
  double least = 0;
  double most = 1;
  bool is_logarithmic = false;
  double part(double value) const {
    if (!is_logarithmic) return (value - least) / (most - least);
    return std::log10(std::max(value, 1.0)) / std::log10(most);
  }
};

// 1, 2 or 5 times a power of ten, so that there are about five.
double step_of(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

std::vector<double> ticks_of(const Scale& scale) {
  std::vector<double> ticks;
  if (scale.is_logarithmic) {
    for (double tick = 1; tick <= scale.most; tick *= 10) ticks.push_back(tick);
    return ticks;
  }
  const double step = step_of(scale.most - scale.least);
  const double first = std::ceil(scale.least / step - 1e-9);
  for (double i = first; i * step <= scale.most + step * 1e-9; ++i)
    ticks.push_back(i * step + 0.0);  // not -0
  return ticks;
}

std::string number(double value) {
  if (value < 10'000) return fmt::format("{:g}", std::round(value * 1000) / 1000);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

std::string draw(const Chart& chart) {
  Scale across{.least = chart.lines.front().points.front().first,
               .most = chart.lines.front().points.front().first};
  Scale up{.least = chart.floor, .is_logarithmic = chart.is_logarithmic};
  for (const Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      across.least = std::min(across.least, x);
      across.most = std::max(across.most, x);
      up.most = std::max(up.most, y + (y - up.least) * 0.05);
    }
  }
  const auto x_at = [&](double x) { return kLeft + (kWidth - kLeft - kRight) * across.part(x); };
  const auto y_at = [&](double y) {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * up.part(y);
  };
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="12" fill="#808080">)"
      "\n<title>{}</title>\n<text x=\"10\" y=\"22\" font-size=\"15\">{}</text>\n",
      kWidth, kHeight, chart.title, chart.title);
  for (const double tick : ticks_of(up)) {
    out += fmt::format(
        R"(<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" stroke="#808080" stroke-opacity="0.25"/>)"
        R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)"
        "\n",
        kLeft, y_at(tick), kWidth - kRight, y_at(tick), kLeft - 8, y_at(tick) + 4, number(tick));
  }
  for (const double tick : ticks_of(across)) {
    out += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)"
                       "\n",
                       x_at(tick), kHeight - kBottom + 18, number(tick));
  }
  out += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)"
                     "\n",
                     kWidth - kRight, kHeight - 8, chart.across);
  double legend = 10;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    const char* const colour = kColours[std::min(i, kColours.size() - 1)];
    std::string points;
    for (const auto& [x, y] : line.points)
      points += fmt::format("{:.1f},{:.1f} ", x_at(x), y_at(y));
    points.pop_back();
    out += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)"
                       R"(<text x="{:.0f}" y="46" fill="{}">{}</text>)"
                       "\n",
                       points, colour, legend, colour, line.name);
    legend += 30 + 7 * static_cast<double>(line.name.size());
  }
  return out + "</svg>\n";
}

}  // namespace cordon::simulation
