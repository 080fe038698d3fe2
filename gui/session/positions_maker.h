// SPDX-License-Identifier: GPL-3.0-or-later
// Computes records of position ids and of rotary positions, and describes the parameters in the
// forms of PositionsPanel.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/positions/position_sampler.h"
#include "probes/measure/builtin/rope_periods.h"

namespace midscope {

struct PositionsQuestion {
  std::string sampler = "cream";
  PositionRequest request;
  OptionSet options{{}};  // parameters of the sampler
  int64_t samples = 100;  // samples that the coverage counts
  int64_t drawn = 5;      // number of first samples whose ids are recorded
  RopeQuestion rope;
  std::string learned_of;  // the model with embeddings of positions; "": none
  // Returns the record of that model's embeddings.
  std::function<Record(const JobContext&)> learned = {};
};

struct PositionsReply {
  std::vector<Record> records;  // positions, position_coverage, rope; learned_positions
  QString failure;              // empty: none
};

class PositionsMaker {
 public:
  // Learned positions of a new model take seconds: the first reply omits their record, a second one
  // includes it. Throws Error, Cancelled.
  void Make(const PositionsQuestion& question, const JobContext& job,
            const std::function<void(PositionsReply)>& deliver);

 private:
  std::string learned_of_;  // the newest model whose record was made
  std::optional<Record> learned_;
};

inline constexpr int64_t kMostSampleTokens = int64_t{1} << 15;

// Parameters that all samplers share: tokens, factor, seed, samples.
std::vector<Parameter> PositionSampleParameters();

// Parameters of the plots of rotary positions: dim, base, context, new-base, least-ratio,
// largest-ratio.
std::vector<Parameter> RopePictureParameters();

}  // namespace midscope
