// SPDX-License-Identifier: Apache-2.0
// Values of the record as the API shows them, the same in every answer.
#pragma once

#include "record/denial.h"
#include "record/verdict.h"
#include "wire/json_writer.h"

namespace cordon::wire {

void write(JsonWriter& json, const Verdict& verdict);
void write(JsonWriter& json, const Denial& denial);

}  // namespace cordon::wire
