// SPDX-License-Identifier: MIT
#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/positions/position_sampler.h"
#include "core/positions/samplers.h"

namespace midscope::pose {
namespace {

constexpr int64_t kMostChunks = 1 << 20;

PositionSample Draw(const PositionRequest& request, int64_t chunks, int64_t index) {
  SplitMix64 random(request.seed, static_cast<uint64_t>(index));
  const int64_t longest = (request.tokens + 1) / chunks;
  const int64_t free_tokens = request.DocumentTokens() - request.tokens;
  const int64_t free_positions = request.context - request.tokens;
  PositionSample sample;
  sample.token_index.reserve(static_cast<size_t>(request.tokens));
  sample.position_id.reserve(static_cast<size_t>(request.tokens));
  int64_t begin = 0;
  int64_t skipped_tokens = 0;
  int64_t skipped_positions = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const bool is_last = chunk == chunks - 1;
    const int64_t size = is_last ? request.tokens - begin : UniformInteger(random, 1, longest);
    if (chunk > 0) {
      skipped_tokens = UniformInteger(random, skipped_tokens, free_tokens);
      skipped_positions = UniformInteger(random, skipped_positions, free_positions);
    }
    AppendRun(sample.token_index, begin + skipped_tokens, size);
    AppendRun(sample.position_id, begin + skipped_positions, size);
    begin += size;
  }
  return sample;
}

DrawPositions Prepare(const PositionRequest& request, const OptionSet& options) {
  const int64_t chunks = options.Integer("chunks");
  if (chunks > request.tokens) {
    throw UsageError("sampler pose",
                     std::to_string(request.tokens) + " tokens cannot be cut into " +
                         std::to_string(chunks) + " chunks",
                     "Give fewer chunks");
  }
  return [request, chunks](int64_t sample) { return Draw(request, chunks, sample); };
}

}  // namespace

PositionSampler Sampler() {
  return {
      .name = "pose",
      .summary =
          "PoSE: the tokens are cut into chunks, and positions are skipped before every chunk but "
          "the first. Tokens of the document are skipped likewise.",
      .source =
          "Zhu et al. 2023, arXiv 2309.10400. Two chunks as the public code since 2023-10: the "
          "first begins at position 0 and has 1 to (N+1)/2 tokens, the skip is 0 to L-N. More "
          "chunks: the paper's rule, each skip is drawn from the one before up to L-N; it gives "
          "no lengths, so each chunk but the last has 1 to (N+1)/chunks tokens. The code reads "
          "documents up to 5 N tokens, CREAM's copy up to L.",
      .parameters = {WholeNumberParameter("chunks", "contiguous chunks of a sample", 1, kMostChunks,
                                          2)},
      .prepare = Prepare};
}

}  // namespace midscope::pose
