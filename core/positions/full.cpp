// SPDX-License-Identifier: MIT
#include "core/base/error.h"
#include "core/positions/position_sampler.h"
#include "core/positions/samplers.h"

namespace midscope::full {
namespace {

DrawPositions Prepare(const PositionRequest& request, const OptionSet&) {
  if (request.tokens != request.context) {
    throw UsageError("sampler full",
                     "it shows all " + std::to_string(request.context) +
                         " positions of the context, and a sample has " +
                         std::to_string(request.tokens) + " tokens",
                     "Leave out the number of tokens, or let it equal the context");
  }
  return [context = request.context](int64_t) {
    PositionSample sample;
    AppendRun(sample.position_id, 0, context);
    sample.token_index = sample.position_id;
    return sample;
  };
}

}  // namespace

PositionSampler Sampler() {
  return {.name = "full",
          .summary =
              "All positions 0 to L-1 of the context, with as many tokens: full-length tuning, "
              "which position interpolation uses.",
          .source = "Chen et al. 2023, arXiv 2306.15595: tuning at the target length.",
          .parameters = {},
          .prepare = Prepare};
}

}  // namespace midscope::full
