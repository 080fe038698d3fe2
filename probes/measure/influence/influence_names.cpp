// SPDX-License-Identifier: MIT
#include "probes/measure/influence/influence_names.h"

#include <cstdint>

namespace midscope {

std::vector<Parameter> GradientOptions() {
  constexpr int64_t kMostCotangents = 10000;
  constexpr int64_t kMostParts = 1000;
  return InGroup(
      "Gradients",
      {WholeNumberParameter("cotangents",
                            "also the gradient of the output as a whole, from this many "
                            "random vectors v: the root of the mean of |v^T J|^2",
                            0, kMostCotangents, 0),
       WholeNumberParameter("cotangent-seed", "what these vectors are drawn by", 0, kNoMaximum, 1),
       WholeNumberParameter("parts", "equal parts of the prompt in the curve by part", 1,
                            kMostParts, 10)});
}

}  // namespace midscope
