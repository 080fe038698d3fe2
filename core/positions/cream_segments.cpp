// SPDX-License-Identifier: MIT
#include "core/positions/cream_segments.h"

#include "core/base/error.h"

namespace midscope {
namespace {

constexpr int64_t kPaperEndTokens = 32;

CreamSegments MakeSegments(const PositionRequest& request, const std::string& ends, int64_t end) {
  CreamSegments segments;
  if (ends == "both" || ends == "head") segments.head = end;
  if (ends == "both" || ends == "tail") segments.tail = end;
  segments.middle = request.tokens - segments.head - segments.tail;
  if (segments.middle < 1) {
    throw UsageError("sampler cream",
                     "head and tail of " + std::to_string(end) + " tokens leave no middle of " +
                         std::to_string(request.tokens) + " tokens",
                     "Give a smaller k, strategy=relativity, or more tokens");
  }
  return segments;
}

// Returns L_h under continuity.
int64_t ContinuityEnd(const PositionRequest& request, const OptionSet& options) {
  if (const auto* k = std::get_if<int64_t>(&options.Value("k"))) return *k;
  return options.Text("variant") == "paper" ? kPaperEndTokens
                                            : 4 * (request.context / request.tokens);
}

}  // namespace

std::vector<CreamSegments> CreamSegmentChoices(const PositionRequest& request,
                                               const OptionSet& options) {
  const std::string& strategy = options.Text("strategy");
  const std::string& ends = options.Text("ends");
  std::vector<CreamSegments> choices;
  if (strategy != "continuity") choices.push_back(MakeSegments(request, ends, request.tokens / 3));
  if (strategy != "relativity") {
    choices.push_back(MakeSegments(request, ends, ContinuityEnd(request, options)));
  }
  return choices;
}

}  // namespace midscope
