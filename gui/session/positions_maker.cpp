// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/positions_maker.h"

#include "core/base/parameter.h"
#include "probes/measure/builtin/position_coverage.h"

namespace midscope {

void PositionsMaker::Make(const PositionsQuestion& question, const JobContext& job,
                          const std::function<void(PositionsReply)>& deliver) {
  PositionsReply reply;
  const SampledPositions positions = MakeSampledPositions(*FindPositionSampler(question.sampler),
                                                          question.request, question.options);
  reply.records.push_back(PositionSamples(positions, 0, question.drawn, job));
  reply.records.push_back(PositionCoverage({positions}, question.samples, job));
  reply.records.push_back(RopePeriods(question.rope));
  if (question.learned_of.empty()) return deliver(reply);
  if (question.learned_of != learned_of_) {
    deliver(reply);
    learned_ = question.learned(job);
    learned_of_ = question.learned_of;
  }
  reply.records.push_back(*learned_);
  deliver(reply);
}

namespace {

constexpr int64_t kTokens = 4096;
constexpr int64_t kFactor = 8;
constexpr int64_t kMostFactor = 256;

}  // namespace

std::vector<Parameter> PositionSampleParameters() {
  return {WholeNumberParameter("tokens", "N: tokens of a sample, such as the trained context", 2,
                               kMostSampleTokens, kTokens),
          WholeNumberParameter("factor", "L / N: how many times longer the context is", 1,
                               kMostFactor, kFactor),
          WholeNumberParameter("seed", "seed of the samples", 0, int64_t{1} << 53, 1),
          WholeNumberParameter("samples", "samples that the coverage and densities are of", 1,
                               10'000, 100)};
}

std::vector<Parameter> RopePictureParameters() {
  Parameter base = NumberParameter("base", "base of the frequencies", 1, 1e12);
  base.default_value = 1e4;
  Parameter new_base = NumberParameter("new-base", "also shows this base", 1, 1e12);
  new_base.default_value = 5e5;
  Parameter least = NumberParameter("least-ratio", "Ms-PoE's least position ratio", 1e-3, 1e3);
  least.default_value = 1.2;
  Parameter largest = NumberParameter("largest-ratio", "Ms-PoE's largest one", 1e-3, 1e3);
  largest.default_value = 1.8;
  return {WholeNumberParameter("dim", "rotated dimensions of a head, even", 2, 65536, 128),
          base,
          WholeNumberParameter("context", "tokens that the model was trained with", 1,
                               1'000'000'000, 4096),
          new_base,
          least,
          largest};
}

}  // namespace midscope
