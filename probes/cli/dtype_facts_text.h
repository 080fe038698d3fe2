// SPDX-License-Identifier: MIT
// What is known of a model's speed and exactness in each dtype, as text, for `info`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "probes/cli/model_facts.h"

namespace midscope::cli {

// Null where nothing has been timed.
nlohmann::ordered_json DtypesJson(const DtypeFacts& facts);

// "bfloat16: a layer takes ..."; how far others are from float32 on lines of their own.
std::string DtypesText(const DtypeFacts& facts);

}  // namespace midscope::cli
