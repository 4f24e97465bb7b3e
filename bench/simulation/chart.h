// SPDX-License-Identifier: Apache-2.0
// Lines over an axis as one picture, SVG: its background is clear, its ink fits light and dark.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cordon::simulation {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::string title;
  std::string across;       // what the axis counts
  std::vector<Line> lines;  // the first is what the picture is about
  double floor = 0;
  bool is_logarithmic = false;  // upwards; what is less than 1 lies on the floor
};

std::string draw(const Chart& chart);

}  // namespace cordon::simulation
