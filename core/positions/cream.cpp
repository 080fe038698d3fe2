// SPDX-License-Identifier: MIT
// CREAM: uses head, middle and tail of the context; the middle is drawn from a truncated Gaussian.
#include "core/positions/cream.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/positions/position_sampler.h"
#include "core/positions/samplers.h"

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

namespace midscope::cream {
namespace {

constexpr int64_t kDocumentsPerCoin = 3000;  // batch size of the public code's map over documents
constexpr double kCodeDeviation = 1.5;
constexpr size_t kGridPoints = 1000;  // as in Eq. 4

Error Refused(const std::string& reason, const std::string& remedy) {
  return UsageError("sampler cream", reason, remedy);
}

// Returns the number of an option that may be "auto", for which `automatic` is returned.
double NumberOr(const OptionSet& options, std::string_view name, double automatic) {
  const auto* number = std::get_if<double>(&options.Value(name));
  return number ? *number : automatic;
}

// The factor alpha by which the middle segment moves, in half steps: its values are 2 alpha.
class MiddleFactor {
 public:
  MiddleFactor(int64_t stretch, bool paper, const OptionSet& options)
      : stretch_(stretch),
        paper_(paper),
        uniform_(options.Text("middle") == "uniform"),
        steps_(paper ? 1 : 2) {
    const double mean = NumberOr(options, "mean", 0.5 * static_cast<double>(1 + stretch));
    const double deviation = NumberOr(options, "deviation", kCodeDeviation);
    for (size_t i = 0; i < kGridPoints; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kGridPoints - 1);
      const double alpha = 1 + share * static_cast<double>(stretch - 1);
      alphas_[i] = alpha;
      shares_[i] = 0.5 * std::erfc((mean - alpha) / (deviation * std::sqrt(2.0)));
    }
  }

  // Refuses a Gaussian without mass in the interval.
  void Check() const {
    if (paper_ && !uniform_ && stretch_ > 1 && !(shares_.back() > shares_.front())) {
      throw Refused(
          "the Gaussian has no mass between alpha = 1 and alpha = " + std::to_string(stretch_),
          "Give a mean nearer to the interval, or a larger deviation");
    }
  }

  int64_t DrawHalves(SplitMix64& random) const {
    const double share = UniformShare(random);
    const int64_t scale = 2 / steps_;
    if (stretch_ == 1) return 2;
    if (uniform_) {
      const int64_t values = steps_ * (stretch_ - 1) + 1;
      const auto value = static_cast<int64_t>(share * static_cast<double>(values));
      return scale * (steps_ + value);
    }
    const double alpha = paper_ ? AlphaAt(Within(share)) : AlphaAt(share);
    const double number = alpha * static_cast<double>(steps_);
    return scale * static_cast<int64_t>(paper_ ? std::lround(number) : std::floor(number));
  }

 private:
  // Eq. 3 is a distribution on the whole line; returns the share of its mass within the interval.
  double Within(double share) const {
    return shares_.front() + share * (shares_.back() - shares_.front());
  }

  // Eq. 5 before rounding; returns the ends of the interval if `share` is outside the curve.
  double AlphaAt(double share) const {
    const auto above = std::upper_bound(shares_.begin(), shares_.end(), share);
    if (above == shares_.begin()) return alphas_.front();
    if (above == shares_.end()) return alphas_.back();
    const auto i = static_cast<size_t>(above - shares_.begin());
    const double part = (share - shares_[i - 1]) / (shares_[i] - shares_[i - 1]);
    return alphas_[i - 1] + part * (alphas_[i] - alphas_[i - 1]);
  }

  int64_t stretch_;
  bool paper_;
  bool uniform_;
  int64_t steps_;  // per unit of alpha
  std::array<double, kGridPoints> alphas_{};
  std::array<double, kGridPoints> shares_{};  // F(alpha) of Eq. 3
};

// Returns the inclusive range from which the middle's last position id is drawn (Eq. 6).
std::pair<int64_t, int64_t> LastIdRange(const PositionRequest& request,
                                        const CreamSegments& segments, int64_t halves, bool paper) {
  const int64_t last = halves * request.tokens / 2 - segments.tail - 1;
  if (paper) return {std::min(segments.head + halves * segments.middle / 2, last), last};
  return {segments.head + (segments.middle - 1) * halves / 2, last};
}

void CheckPaper(const OptionSet& options) {
  const std::string& printed = options.Text("printed");
  if (printed == "eq4") {
    throw Refused(
        "Eq. 4 as printed runs from 1 to 1 + L/N, so alpha can be L/N + 1, which puts the middle "
        "beyond the context",
        "Take printed=none: 1 to L/N, as in the sentence before the equation");
  }
  if (printed == "eq6") {
    throw Refused(
        "the range of Eq. 6 as printed is empty at alpha = 1: L_h + L_m is one above N - 1 - L_t",
        "Take printed=none: there the end N - 1 - L_t is taken, which continues the head");
  }
  if (printed == "line7") {
    throw Refused(
        "line 7 of Algorithm 1 as printed lists 0 to L_h, which makes N + 1 ids, not the N of the "
        "same line",
        "Take printed=none: 0 to L_h - 1, as in Eq. 1");
  }
  if (options.Text("ends") == "none") {
    throw Refused("without head and tail the range of Eq. 6 is empty for every alpha",
                  "Take variant=code");
  }
}

class Cream {
 public:
  Cream(const PositionRequest& request, const OptionSet& options)
      : request_(request),
        paper_(options.Text("variant") == "paper"),
        coin_per_batch_(options.Text("coin") == "batch"),
        factor_(request.context / request.tokens, paper_, options) {
    if (paper_) CheckPaper(options);
    if (!paper_ && options.Text("printed") != "none") {
      throw Refused("printed= is about the paper's equations", "Give variant=paper with it");
    }
    factor_.Check();
    choices_ = CreamSegmentChoices(request, options);
  }

  PositionSample Draw(int64_t index) const {
    SplitMix64 random(request_.seed, static_cast<uint64_t>(index));
    const CreamSegments segments = Toss(random, index);
    const int64_t halves = factor_.DrawHalves(random);
    const auto [first, last] = LastIdRange(request_, segments, halves, paper_);
    const int64_t start = UniformInteger(random, first, last) - segments.middle + 1;

    PositionSample sample;
    sample.position_id.reserve(static_cast<size_t>(request_.tokens));
    AppendRun(sample.position_id, 0, segments.head);
    AppendRun(sample.position_id, start, segments.middle);
    AppendRun(sample.position_id, request_.context - segments.tail, segments.tail);
    const int64_t document = request_.DocumentTokens();
    const int64_t tail_start = document - segments.tail;
    const bool middle_is_there = start + segments.middle <= document;
    sample.token_index.reserve(static_cast<size_t>(request_.tokens));
    AppendRun(sample.token_index, 0, segments.head);
    AppendRun(sample.token_index, middle_is_there ? start : tail_start - segments.middle,
              segments.middle);
    AppendRun(sample.token_index, tail_start, segments.tail);
    return sample;
  }

 private:
  CreamSegments Toss(SplitMix64& random, int64_t index) const {
    uint64_t side = random.Below(2);  // always drawn, so that other draws do not depend on `coin`
    if (coin_per_batch_) {
      SplitMix64 coins(~request_.seed, static_cast<uint64_t>(index / kDocumentsPerCoin));
      side = coins.Below(2);
    }
    return choices_.size() > 1 ? choices_[side] : choices_.front();
  }

  PositionRequest request_;
  bool paper_;
  bool coin_per_batch_;
  MiddleFactor factor_;
  std::vector<CreamSegments> choices_;
};

DrawPositions Prepare(const PositionRequest& request, const OptionSet& options) {
  return [cream = Cream(request, options)](int64_t sample) { return cream.Draw(sample); };
}

// Returns a parameter that also accepts "auto", which is the default.
Parameter OrAuto(Parameter parameter) {
  parameter.choices = {"auto"};
  parameter.default_value = "auto";
  return parameter;
}

std::vector<Parameter> Parameters() {
  return {
      ChoiceParameter("strategy",
                      "tokens of head and tail: continuity: k; relativity: a third of the sample; "
                      "coin: one or the other, with equal probability",
                      {"coin", "continuity", "relativity"}),
      ChoiceParameter("coin",
                      "when the coin is tossed. sample: for each sample, as the paper says. batch: "
                      "once per 3,000 samples, as the public code does",
                      {"sample", "batch"}),
      ChoiceParameter(
          "variant",
          "code: alpha in steps of a half, truncated, the Gaussian's mass outside of 1 to L/N put "
          "on the ends, P_e from L_h + (L_m - 1) alpha. paper: alpha whole, rounded, the Gaussian "
          "renormalised, P_e from L_h + L_m alpha",
          {"code", "paper"}),
      OrAuto(WholeNumberParameter(
          "k", "tokens of head and tail under continuity; auto: 4 L/N (code), 32 (paper)", 1,
          kLargestPositionContext)),
      ChoiceParameter("middle",
                      "how alpha is drawn; uniform, all its steps alike, is the ablation of the "
                      "paper's Fig. 5a, whose form it does not give",
                      {"gaussian", "uniform"}),
      ChoiceParameter("ends",
                      "which of head and tail are kept; the others are the ablations of Fig. 5b: "
                      "their tokens belong to the middle",
                      {"both", "head", "tail", "none"}),
      OrAuto(NumberParameter("mean",
                             "mean of alpha's Gaussian; auto: (1 + L/N) / 2, as the public code "
                             "(the paper gives none)",
                             -1e6, 1e6)),
      OrAuto(NumberParameter("deviation",
                             "its standard deviation; auto: 1.5 for every L/N, as the public code "
                             "(the paper gives none)",
                             1e-3, 1e6)),
      ChoiceParameter("printed",
                      "with variant=paper: takes Eq. 4, Eq. 6 or line 7 of Algorithm 1 as they are "
                      "printed; none of the three can be run; the error states the reason",
                      {"none", "eq4", "eq6", "line7"})};
}

}  // namespace

PositionSampler Sampler() {
  return {.name = "cream",
          .summary =
              "CREAM: the first positions of the context, its last, and a middle segment that "
              "ends near alpha N, with alpha from 1 to L/N by a truncated Gaussian. Tokens of the "
              "document at these places, or those before the tail where it is too short.",
          .source =
              "Wu et al. 2024, arXiv 2406.07138, Eq. 1 to 6 and Algorithm 1, and its public code. "
              "variant=paper repairs what cannot be run as printed: Eq. 4 covers 1 to L/N, at "
              "alpha = 1 P_e is N - 1 - L_t, and the head has L_h ids.",
          .parameters = Parameters(),
          .prepare = Prepare};
}

}  // namespace midscope::cream
