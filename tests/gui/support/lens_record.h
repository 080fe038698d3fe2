// SPDX-License-Identifier: MIT
// A record of the probe logit_lens with planted numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Three layers, two ranks. The answer " word" has rank 4, 2 and 1 in the three layers.
inline Record LensRecord() {
  Record record;
  record.name = "logit_lens";
  record.axes = {{"layer", 3, "", {}, {}}, {"rank", 2, "", {}, {}}};
  record.arrays = {{"lens_token_text",
                    {"layer", "rank"},
                    std::vector<std::string>{" low", " mid", " high", " word", " word", " high"},
                    "",
                    ""},
                   {"lens_probability",
                    {"layer", "rank"},
                    std::vector<double>{0.25, 0.125, 0.5, 0.25, 0.75, 0.125},
                    "",
                    ""},
                   {"answer_rank", {"layer"}, std::vector<int64_t>{3, 1, 0}, "", ""},
                   {"answer_log_probability",
                    {"layer"},
                    std::vector<double>{std::log(0.0625), std::log(0.25), std::log(0.75)},
                    "nats",
                    ""}};
  return record;
}

}  // namespace midscope
