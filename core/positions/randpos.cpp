// SPDX-License-Identifier: MIT
#include <bit>

#include "core/positions/position_sampler.h"
#include "core/positions/samplers.h"

namespace midscope::randpos {
namespace {

// Marks `count` distinct numbers below `size`, all sets with equal probability: numbers are drawn
// until enough are distinct. `count` is at most half of `size`, so fewer than two draws per mark
// are expected if `size` is a power of two, else fewer than four.
std::vector<uint64_t> MarkDistinct(SplitMix64& random, int64_t size, int64_t count) {
  std::vector<uint64_t> marks(static_cast<size_t>(size + 63) / 64);
  const auto bound = static_cast<uint64_t>(size);
  const uint64_t mask = std::bit_ceil(bound) - 1;
  while (count > 0) {
    const uint64_t number = random.Next() & mask;
    if (number >= bound) continue;
    const uint64_t bit = uint64_t{1} << (number % 64);
    if (marks[number / 64] & bit) continue;
    marks[number / 64] |= bit;
    --count;
  }
  return marks;
}

PositionSample Draw(const PositionRequest& request, int64_t index) {
  SplitMix64 random(request.seed, static_cast<uint64_t>(index));
  const bool draws_the_rest = request.tokens > request.context / 2;
  const int64_t count = draws_the_rest ? request.context - request.tokens : request.tokens;
  std::vector<uint64_t> marks = MarkDistinct(random, request.context, count);
  PositionSample sample;
  AppendRun(sample.token_index, 0, request.tokens);
  sample.position_id.reserve(static_cast<size_t>(request.tokens));
  for (size_t word = 0; word < marks.size(); ++word) {
    uint64_t bits = draws_the_rest ? ~marks[word] : marks[word];
    for (; bits != 0; bits &= bits - 1) {
      const int64_t id = static_cast<int64_t>(word) * 64 + std::countr_zero(bits);
      if (id < request.context) sample.position_id.push_back(id);
    }
  }
  return sample;
}

DrawPositions Prepare(const PositionRequest& request, const OptionSet&) {
  return [request](int64_t sample) { return Draw(request, sample); };
}

}  // namespace

PositionSampler Sampler() {
  return {.name = "randpos",
          .summary =
              "RandPos: N positions of the context, drawn without replacement and sorted, for the "
              "first N tokens of the document.",
          .source =
              "Ruoss et al. 2023, arXiv 2305.16843, as the public codes of PoSE and CREAM have it. "
              "With the yarn scheme it is Randomized YaRN.",
          .parameters = {},
          .prepare = Prepare};
}

}  // namespace midscope::randpos
