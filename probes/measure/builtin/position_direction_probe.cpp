// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

constexpr const char* kDirection = "position_direction";
constexpr const char* kSlope = "position_slope";
constexpr const char* kCorrelation = "position_correlation";

// Divides the vector by its length and returns that length; a zero vector is unchanged.
double BringToLength1(std::span<double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  const double length = std::sqrt(squares);
  for (double& value : values) value = length > 0 ? value / length : 0;
  return length;
}

// Analyses the drift of the stream with position in one layer at a time, [prompt row, hidden].
class StreamDrift : public Hook {
 public:
  explicit StreamDrift(int64_t hidden) : hidden_(static_cast<size_t>(hidden)) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPost) return {};
    rows_ = sequence.prompt_tokens;
    return {HookAccess::kRead, {0, rows_}};
  }

  void OnActivation(HookView& view) override {
    values_.resize(static_cast<size_t>(rows_) * hidden_);
    for (int64_t row = 0; row < view.rows(); ++row) {
      float* out = values_.data() + static_cast<size_t>(view.first_row + row) * hidden_;
      for (size_t i = 0; i < hidden_; ++i) out[i] = view.At(0, row, static_cast<int64_t>(i));
    }
    if (view.first_row + view.rows() == rows_) Fold();
  }

  std::vector<double> directions;    // [layer, hidden]
  std::vector<double> slopes;        // [layer]
  std::vector<double> correlations;  // [layer]

 private:
  double Time(int64_t row) const {
    return static_cast<double>(row) - static_cast<double>(rows_ - 1) / 2;
  }
  float At(int64_t row, size_t channel) const {
    return values_[static_cast<size_t>(row) * hidden_ + channel];
  }

  void Fold() {
    const auto rows = static_cast<double>(rows_);
    std::vector<double> covariance(hidden_);
    double of_time = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      of_time += Time(row) * Time(row) / rows;
      for (size_t i = 0; i < hidden_; ++i) covariance[i] += At(row, i) * Time(row) / rows;
    }
    slopes.push_back(BringToLength1(covariance) / of_time);
    correlations.push_back(Correlation(covariance, of_time));
    directions.insert(directions.end(), covariance.begin(), covariance.end());
  }

  // Returns the correlation between position and the stream's component along the direction.
  double Correlation(const std::vector<double>& direction, double of_time) const {
    std::vector<double> along(static_cast<size_t>(rows_));
    double mean = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      double& sum = along[static_cast<size_t>(row)];
      for (size_t i = 0; i < hidden_; ++i) sum += At(row, i) * direction[i];
      mean += sum / static_cast<double>(rows_);
    }
    double variance = 0;
    for (const double value : along)
      variance += (value - mean) * (value - mean) / static_cast<double>(rows_);
    return variance > 0 ? slopes.back() * std::sqrt(of_time / variance) : 0;
  }

  size_t hidden_;
  int64_t rows_ = 0;
  std::vector<float> values_;
};

class DirectionProbe : public Probe {
 public:
  explicit DirectionProbe(const ProbeInput& input)
      : config_(input.decoder.config()), drift_(config_.hidden) {
    if (input.prompt_tokens() < 2) {
      throw UsageError(std::string("probe '") + kDirection + "'",
                       "the prompt has fewer than 2 tokens", "Give a longer one");
    }
  }

  std::vector<Hook*> Hooks() override { return {&drift_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = kDirection;
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("channel", config_.hidden)};
    record.arrays = {
        {kDirection,
         {"layer", "channel"},
         std::move(drift_.directions),
         "",
         "unit vector along which the stream after the block moves with position, forwards"},
        {kSlope,
         {"layer"},
         std::move(drift_.slopes),
         "",
         "what the stream gains along it per token: a control vector's scale for so many tokens"},
        {kCorrelation,
         {"layer"},
         std::move(drift_.correlations),
         "",
         "correlation of the stream along it with position"}};
    record.signal = kCorrelation;
    return record;
  }

 private:
  const ModelConfig& config_;
  StreamDrift drift_;
};

// Returns the means over prompts of directions (scaled to length 1 again), slopes and correlations.
Record PositionDirectionMean(const Record& stacked) {
  Record record;
  record.name = std::string(kDirection) + "_mean";
  record.axes = {AxisOf(stacked, "layer"), AxisOf(stacked, "channel")};
  const auto prompts =
      static_cast<size_t>(AxisOf(stacked, "sample").size * AxisOf(stacked, "place").size);
  const auto mean = [&](const char* name) {
    return MeanOverSamples(ArrayValues<double>(stacked, name), prompts);
  };
  std::vector<double> directions = mean(kDirection);
  const auto hidden = static_cast<size_t>(AxisOf(stacked, "channel").size);
  for (size_t first = 0; first < directions.size(); first += hidden)
    BringToLength1(std::span(directions).subspan(first, hidden));
  record.arrays = {
      {std::string("mean_") + kDirection,
       {"layer", "channel"},
       std::move(directions),
       "",
       "mean of the prompts' directions, of length 1"},
      {std::string("mean_") + kSlope, {"layer"}, mean(kSlope), "", "mean over prompts"},
      {std::string("mean_") + kCorrelation,
       {"layer"},
       mean(kCorrelation),
       "",
       "mean over prompts"}};
  record.signal = std::string("mean_") + kCorrelation;
  return record;
}

}  // namespace

ProbeType PositionDirectionProbe() {
  ProbeType type;
  type.name = kDirection;
  type.summary =
      "the direction in which the residual stream moves with position after each block, as a "
      "control vector has it (midscope export --format gguf)";
  type.source =
      "the covariance with position, Cov(x, t) / |Cov(x, t)|, as chapter 4 of the master's thesis "
      "in the repository viktor-shcherb/msc_thesis takes it of queries and keys";
  type.departures = "there of the queries and keys of a head, here of the stream";
  type.limits =
      "one prompt also moves with what it says: take several. One layer's stream is kept at a time";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<DirectionProbe>(input); };
  type.summarise = [](const Record& stacked) {
    return std::vector{PositionDirectionMean(stacked)};
  };
  return type;
}

}  // namespace midscope
