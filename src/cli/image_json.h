// SPDX-License-Identifier: Apache-2.0
// An image as one JSON object.
#pragma once

#include <string>

#include "image/image.h"

namespace cordon::cli {

std::string image_json(const image::Image& image);

}  // namespace cordon::cli
