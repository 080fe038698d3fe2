// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/rope_periods.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/intervention/rope_schemes.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/learned_positions.h"

namespace midscope {
namespace {

constexpr int64_t kRopeDistances = 512;        // maximum number in decay curves, besides 0
constexpr int64_t kSinusoidalPositions = 128;  // maximum number of rows of the encoding

constexpr double kNoBase = std::numeric_limits<double>::quiet_NaN();

struct Scheme {
  std::string name;
  std::vector<double> frequencies;
  double base = kNoBase;
  double magnitude = 1;
};

// Formats a number without an exponent: 500000, not 5e+05.
std::string PlainNumber(double value) {
  const bool is_whole = value == std::floor(value) && std::abs(value) < 1e15;
  return is_whole ? std::to_string(static_cast<int64_t>(value)) : NumberText(value);
}

std::vector<Scheme> Schemes(const RopeQuestion& question) {
  const int64_t dimensions = question.dimensions;
  const auto with_base = [&](const std::string& name, double base) {
    return Scheme{name, PlainFrequencies(base, dimensions), base};
  };
  std::vector<Scheme> schemes = {with_base("none", question.base)};
  if (question.new_base > 0) {
    const std::string name = "base(" + PlainNumber(question.new_base) + ")";
    schemes.push_back(with_base(name, question.new_base));
  }
  if (question.least_ratio > 0) {
    const std::string term = "ms-poe(min=" + PlainNumber(question.least_ratio) +
                             ", max=" + PlainNumber(question.largest_ratio) + ")";
    const auto& plain = schemes.front().frequencies;
    Scheme least{term + ", least ratio", InterpolatedFrequencies(plain, question.least_ratio)};
    Scheme largest{term + ", largest ratio",
                   InterpolatedFrequencies(plain, question.largest_ratio)};
    schemes.push_back(std::move(least));
    schemes.push_back(std::move(largest));
  }
  if (question.factor == 1) return schemes;
  const std::string factor = PlainNumber(question.factor);
  schemes.push_back({"pi(" + factor + ")",
                     InterpolatedFrequencies(schemes.front().frequencies, question.factor)});
  schemes.push_back(
      with_base("ntk(" + factor + ")", NtkBase(question.base, question.factor, dimensions)));
  for (const YarnForm form : {YarnForm::kRepo, YarnForm::kPaper, YarnForm::kCream}) {
    YarnSettings settings;
    settings.factor = question.factor;
    settings.original_context = static_cast<double>(question.context);
    settings.form = form;
    schemes.push_back({"yarn(" + factor + ", form=" + std::string(YarnFormName(form)) + ")",
                       YarnFrequencies(question.base, dimensions, settings), kNoBase,
                       YarnMagnitude(question.factor)});
  }
  return schemes;
}

int64_t DimensionsWithin(const std::vector<double>& periods, double context) {
  return 2 * std::count_if(periods.begin(), periods.end(), [&](double p) { return p <= context; });
}

void AddPeriods(const RopeQuestion& question, const std::vector<Scheme>& schemes, Record& record) {
  const auto context = static_cast<double>(question.context);
  std::vector<double> frequency;
  std::vector<double> period;
  std::vector<double> turns;
  std::vector<uint8_t> completes;
  std::vector<int64_t> first_over;
  std::vector<int64_t> within;
  std::vector<int64_t> within_stretched;
  std::vector<double> base;
  std::vector<double> magnitude;
  for (const Scheme& scheme : schemes) {
    const std::vector<double> periods = Periods(scheme.frequencies);
    frequency.insert(frequency.end(), scheme.frequencies.begin(), scheme.frequencies.end());
    period.insert(period.end(), periods.begin(), periods.end());
    for (const double p : periods) {
      turns.push_back(context / p);
      completes.push_back(p <= context ? 1 : 0);
    }
    const auto over =
        std::find_if(periods.begin(), periods.end(), [&](double p) { return p > context; });
    first_over.push_back(over == periods.end() ? -1 : over - periods.begin());
    within.push_back(DimensionsWithin(periods, context));
    within_stretched.push_back(DimensionsWithin(periods, context * question.factor));
    base.push_back(scheme.base);
    magnitude.push_back(scheme.magnitude);
  }
  const std::vector<std::string> pairs = {"scheme", "pair"};
  const std::vector<std::string> each = {"scheme"};
  record.arrays.push_back({"period", pairs, period, "positions", "positions to turn once"});
  record.arrays.push_back({"frequency", pairs, frequency, "radians per position",
                           "angle from one position to the next"});
  record.arrays.push_back({"turns", pairs, turns, "", "turns within the context"});
  record.arrays.push_back({"completes", pairs, completes, "",
                           "whether the pair turns once or more within the context"});
  record.arrays.push_back({"first_pair_over_context", each, first_over, "",
                           "first pair whose period is longer than the context; -1: none"});
  record.arrays.push_back({"dimensions_within_context", each, within, "",
                           "dimensions that turn once or more within the context"});
  record.arrays.push_back({"dimensions_within_stretched", each, within_stretched, "",
                           "the same within context times factor"});
  record.arrays.push_back({"base", each, base, "", "base of the frequencies, where they have one"});
  record.arrays.push_back(
      {"magnitude", each, magnitude, "", "factor of cos and sin; logits have its square"});
}

std::vector<int64_t> Distances(const RopeQuestion& question) {
  const double last = static_cast<double>(question.context) * std::max(question.factor, 1.0);
  const auto steps = static_cast<int64_t>(std::min(last, static_cast<double>(kRopeDistances)));
  std::vector<int64_t> distances;
  for (int64_t i = 0; i <= steps; ++i) {
    distances.push_back(std::llround(last * static_cast<double>(i) / static_cast<double>(steps)));
  }
  return distances;
}

void AddDecay(const std::vector<int64_t>& distances, const std::vector<Scheme>& schemes,
              Record& record) {
  std::vector<double> similarity;
  std::vector<double> bound;
  for (const Scheme& scheme : schemes) {
    const auto pairs = static_cast<double>(scheme.frequencies.size());
    for (const int64_t distance : distances) {
      std::complex<double> sum = 0;
      double lengths = 0;
      for (const double frequency : scheme.frequencies) {
        sum += std::polar(1.0, static_cast<double>(distance) * frequency);
        lengths += std::abs(sum);
      }
      similarity.push_back(sum.real() / pairs);
      bound.push_back(lengths / pairs);
    }
  }
  const std::vector<std::string> axes = {"scheme", "distance"};
  record.arrays.push_back({"similarity", axes, std::move(similarity), "",
                           "logit of a query and key of ones, over its value at distance 0"});
  record.arrays.push_back({"decay_bound", axes, std::move(bound), "",
                           "upper bound of logits by distance (arXiv 2104.09864, section 3.4.3)"});
}

void AddSinusoidal(const RopeQuestion& question, Record& record) {
  const int64_t positions = std::min(question.context, kSinusoidalPositions);
  record.axes.push_back(CountedAxis("position", positions));
  record.axes.push_back(CountedAxis("dimension", question.dimensions));
  record.arrays.push_back({"sinusoidal_encoding",
                           {"position", "dimension"},
                           SinusoidalEncoding(positions, question.dimensions, question.base),
                           "",
                           "sinusoidal position encoding of the same base (arXiv 1706.03762)"});
}

}  // namespace

void CheckRopeQuestion(const RopeQuestion& question) {
  if (question.dimensions < 2 || question.dimensions % 2 != 0) {
    throw UsageError("option --dim", "pairs of dimensions are rotated, so it must be even",
                     "Give the head's rotated dimensions, such as 64 or 128");
  }
  if (question.base <= 1 || (question.new_base != 0 && question.new_base <= 1)) {
    throw UsageError("option --base", "a base must be over 1", "Models have 10000 to 1000000");
  }
  if (question.context < 1) throw UsageError("option --context", "it must be 1 or more");
  const bool has_ratios = question.least_ratio != 0 || question.largest_ratio != 0;
  if (has_ratios && !(question.least_ratio > 0 && question.largest_ratio >= question.least_ratio)) {
    throw UsageError("option --least-ratio", "Ms-PoE has two ratios over 0, the least first",
                     "Give --least-ratio 1.2 and --largest-ratio 1.8, or neither");
  }
  if (question.factor < 1) {
    throw UsageError("option --factor", "contexts are stretched, so it must be 1 or more");
  }
}

Record RopePeriods(const RopeQuestion& question) {
  CheckRopeQuestion(question);
  const std::vector<Scheme> schemes = Schemes(question);
  const std::vector<int64_t> distances = Distances(question);
  std::vector<std::string> names = NamesIn(schemes);
  Record record;
  record.name = "rope";
  record.axes = {LabelledAxis("scheme", names), CountedAxis("pair", question.dimensions / 2),
                 ValuedAxis("distance", distances)};
  record.axes.back().unit = "positions";
  AddPeriods(question, schemes, record);
  AddDecay(distances, schemes, record);
  AddSinusoidal(question, record);
  record.attributes["dimensions"] = question.dimensions;
  record.attributes["base_as_given"] = question.base;
  record.attributes["context"] = question.context;
  record.attributes["factor"] = question.factor;
  if (question.factor != 1) {
    YarnSettings settings;
    settings.factor = question.factor;
    settings.original_context = static_cast<double>(question.context);
    const YarnRange ramp = YarnCorrectionRange(question.base, question.dimensions, settings);
    record.attributes["yarn_ramp_low"] = ramp.low;
    record.attributes["yarn_ramp_high"] = ramp.high;
  }
  record.signal = "period";
  return record;
}

}  // namespace midscope
