// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include "core/base/record_names.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class RatioProbe : public Probe {
 public:
  Record Finish(const RunResult& result) override {
    return PositionRatioRecord(result.position_ratio);
  }
};

}  // namespace

Record PositionRatioRecord(const HeadMatrix& ratio) {
  Record record;
  record.name = kPositionRatio;
  record.axes = {CountedAxis("layer", ratio.layers), CountedAxis("head", ratio.heads)};
  record.arrays = {{kPositionRatio,
                    {"layer", "head"},
                    ratio.values,
                    "",
                    "by what a head's query positions were divided; 1: unchanged"}};
  record.signal = kPositionRatio;
  return record;
}

ProbeType PositionRatioProbe() {
  ProbeType type;
  type.name = kPositionRatio;
  type.summary = "position ratio of every head, as used";
  type.source = "Ms-PoE, arXiv 2403.04797, Eq. 2; position interpolation, arXiv 2306.15595";
  type.limits =
      "of queries; in mode=code keys of a group have the ratio of its first head. 1 in layers "
      "without positions";
  type.make = [](const ProbeInput&) { return std::make_unique<RatioProbe>(); };
  return type;
}

}  // namespace midscope
