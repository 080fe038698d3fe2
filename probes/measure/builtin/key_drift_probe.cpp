// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/sums.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

// Numbers of keys and queries for attention_plasticity: evenly spaced keys of the prompt's first
// half, compared in pairs, and queries of its second half.
constexpr int64_t kPlasticityKeys = 32;
constexpr int64_t kPlasticityQueries = 128;

constexpr const char* kDriftArrays[] = {"key_slope", "query_centroid", "bias_strength",
                                        "key_position_correlation", "attention_plasticity"};

// Values [row, head, dimension] of one layer.
struct LayerRows {
  std::vector<float> values;
  int64_t heads = 0;
  int64_t width = 0;
  std::span<const float> Row(int64_t row, int64_t head) const {
    return std::span(values).subspan(static_cast<size_t>((row * heads + head) * width),
                                     static_cast<size_t>(width));
  }
};

// Returns up to `most` evenly spaced integers of [begin, end).
std::vector<int64_t> Spaced(int64_t begin, int64_t end, int64_t most) {
  const int64_t count = end - begin;
  const int64_t taken = std::min(count, most);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < taken; ++i) numbers.push_back(begin + i * count / taken);
  return numbers;
}

struct HeadDrift {
  std::vector<double> direction;
  double key_slope = 0;
  double query_centroid = 0;
  double correlation = 0;
  double plasticity = 0;
};

class HeadMeasure {
 public:
  HeadMeasure(const LayerRows& q, const LayerRows& k, int64_t head, int64_t rows)
      : q_(q), k_(k), head_(head), rows_(rows), middle_(static_cast<double>(rows - 1) / 2) {}

  HeadDrift Measure() const {
    HeadDrift drift;
    drift.direction.resize(static_cast<size_t>(q_.width));
    AddCovariance(q_, drift.direction);
    AddCovariance(k_, drift.direction);
    const double norm = std::sqrt(std::transform_reduce(
        drift.direction.begin(), drift.direction.end(), drift.direction.begin(), 0.0));
    for (double& value : drift.direction) value = norm > 0 ? value / norm : 0;
    FollowKeys(drift);
    for (int64_t row = 0; row < rows_; ++row)
      drift.query_centroid += Dot(q_.Row(row, head_), drift.direction) / Rows();
    drift.plasticity = Plasticity();
    return drift;
  }

 private:
  double Rows() const { return static_cast<double>(rows_); }
  double Time(int64_t row) const { return static_cast<double>(row) - middle_; }

  // Adds half of the covariance with position, because queries and keys, at the same positions,
  // form one sample of two halves.
  void AddCovariance(const LayerRows& x, std::vector<double>& covariance) const {
    for (int64_t row = 0; row < rows_; ++row) {
      const std::span<const float> values = x.Row(row, head_);
      const double factor = Time(row) / Rows() / 2;
      for (size_t i = 0; i < values.size(); ++i) covariance[i] += values[i] * factor;
    }
  }

  void FollowKeys(HeadDrift& drift) const {
    std::vector<double> along;
    for (int64_t row = 0; row < rows_; ++row)
      along.push_back(Dot(k_.Row(row, head_), drift.direction));
    const double mean = Sum(along) / Rows();
    double variance = 0;
    double of_time = 0;
    double with_time = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      const double value = along[static_cast<size_t>(row)] - mean;
      variance += value * value;
      of_time += Time(row) * Time(row);
      with_time += value * Time(row);
    }
    drift.key_slope = with_time / of_time;
    drift.correlation = variance > 0 ? with_time / std::sqrt(variance * of_time) : 0;
  }

  // Returns the mean of 4 p (1 - p) over pairs of keys; p: share of queries that prefer the first.
  double Plasticity() const {
    const std::vector<int64_t> keys = Spaced(0, rows_ / 2, kPlasticityKeys);
    const std::vector<int64_t> queries = Spaced(rows_ / 2, rows_, kPlasticityQueries);
    std::vector<double> scores;  // [key, query]
    for (const int64_t key : keys) {
      const std::span<const float> k = k_.Row(key, head_);
      const std::vector<double> of_key(k.begin(), k.end());
      for (const int64_t query : queries) scores.push_back(Dot(q_.Row(query, head_), of_key));
    }
    const size_t count = queries.size();
    double sum = 0;
    double pairs = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      for (size_t j = i + 1; j < keys.size(); ++j) {
        double wins = 0;
        for (size_t query = 0; query < count; ++query)
          wins += scores[i * count + query] > scores[j * count + query];
        const double p = wins / static_cast<double>(count);
        sum += 4 * p * (1 - p);
        ++pairs;
      }
    }
    return sum / pairs;
  }

  const LayerRows& q_;
  const LayerRows& k_;
  int64_t head_;
  int64_t rows_;
  double middle_;
};

// Stores the rotated queries and keys of one layer at a time.
class DriftHook : public Hook {
 public:
  explicit DriftHook(const ModelConfig& config) : config_(config) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kRotatedQuery && point.site != HookSite::kRotatedKey) return {};
    rows_ = sequence.prompt_tokens;
    return {HookAccess::kRead, {0, rows_}};
  }

  // A layer's queries are passed to hooks before its last keys.
  void OnActivation(HookView& view) override {
    const bool keys = view.point.site == HookSite::kRotatedKey;
    LayerRows& to = keys ? k_ : q_;
    to.heads = config_.heads;
    to.width = config_.HeadDim(view.point.layer);
    const int64_t row = to.heads * to.width;
    to.values.resize(static_cast<size_t>(rows_ * row));
    const auto* from = static_cast<const float*>(view.data);
    std::copy(from, from + view.rows() * row, to.values.begin() + view.first_row * row);
    if (!keys || view.first_row + view.rows() < rows_) return;
    heads.resize(static_cast<size_t>(view.point.layer * to.heads));  // also those without attention
    for (int64_t head = 0; head < to.heads; ++head)
      heads.push_back(HeadMeasure(q_, k_, head, rows_).Measure());
  }

  std::vector<HeadDrift> heads;  // [layer, head]; zeros in layers without attention

 private:
  const ModelConfig& config_;
  int64_t rows_ = 0;
  LayerRows q_;
  LayerRows k_;
};

class DriftProbe : public Probe {
 public:
  explicit DriftProbe(const ProbeInput& input) : config_(input.decoder.config()), hook_(config_) {
    // The first half of the prompt needs at least two keys to compare.
    if (input.prompt_tokens() < 4) {
      throw UsageError("probe 'key_drift'", "the prompt has fewer than 4 tokens",
                       "Give a longer one");
    }
  }

  std::vector<Hook*> Hooks() override { return {&hook_}; }

  Record Finish(const RunResult&) override {
    hook_.heads.resize(static_cast<size_t>(config_.layers * config_.heads));
    std::vector<double> directions;
    std::vector<std::vector<double>> tables(std::size(kDriftArrays));
    for (const HeadDrift& head : hook_.heads) {
      directions.insert(directions.end(), head.direction.begin(), head.direction.end());
      const auto missing = static_cast<size_t>(config_.head_dim) - head.direction.size();
      directions.insert(directions.end(), missing, 0.0);
      const double values[] = {head.key_slope, head.query_centroid,
                               head.key_slope * head.query_centroid, head.correlation,
                               head.plasticity};
      for (size_t i = 0; i < tables.size(); ++i) tables[i].push_back(values[i]);
    }
    constexpr const char* kPlasticity =
        "mean of 4 p (1 - p) over pairs of keys, p: share of queries that prefer the first; 0: "
        "position decides, 1: the query does";
    const char* descriptions[] = {
        "slope of the keys along the drift direction, per token", "mean of the queries along it",
        "slope times centroid: what the logit gains per token; above 0 later keys get more",
        "correlation of the keys along it with position", kPlasticity};
    Record record;
    record.name = "key_drift";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads),
                   CountedAxis("dimension", config_.head_dim)};
    for (size_t i = 0; i < tables.size(); ++i)
      record.arrays.push_back(
          {kDriftArrays[i], {"layer", "head"}, std::move(tables[i]), "", descriptions[i]});
    record.arrays.push_back(
        {"drift_direction",
         {"layer", "head", "dimension"},
         std::move(directions),
         "",
         "unit vector along which queries and keys move with position; 0 beyond a smaller head"});
    record.signal = "bias_strength";
    return record;
  }

 private:
  const ModelConfig& config_;
  DriftHook hook_;
};

}  // namespace

Record KeyDriftMean(const Record& stacked) {
  Record record;
  record.name = "key_drift_mean";
  record.axes = {AxisOf(stacked, "layer"), AxisOf(stacked, "head")};
  const auto prompts =
      static_cast<size_t>(AxisOf(stacked, "sample").size * AxisOf(stacked, "place").size);
  for (const char* name : kDriftArrays) {
    record.arrays.push_back({std::string("mean_") + name,
                             {"layer", "head"},
                             MeanOverSamples(ArrayValues<double>(stacked, name), prompts),
                             "",
                             std::string(name) + ", mean over prompts"});
  }
  record.signal = "mean_bias_strength";
  return record;
}

ProbeType KeyDriftProbe() {
  ProbeType type;
  type.name = "key_drift";
  type.summary =
      "how queries and keys drift with position in each head, and whether position or the query "
      "decides which key wins";
  type.source =
      "the master's thesis in the repository viktor-shcherb/msc_thesis, chapter 4: the drift axis "
      "of the planar rotation model, bias "
      "strength, attention plasticity";
  type.departures =
      "there over many texts; here one prompt (over several, the mean). Plasticity counts queries "
      "of the prompt's second half over pairs of keys of its first (32 keys, 128 queries at most), "
      "where the thesis has a Gaussian form by buckets. The text calls a positive bias strength a "
      "preference for nearer, smaller positions; by its formula later keys gain";
  type.limits =
      "queries and keys are those after rotation, as the last prompt query sees them; heads are "
      "query heads (GQA shares keys). With ALiBi it is the drift that the content brings, without "
      "the bias. One layer's rows are kept at a time";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<DriftProbe>(input); };
  type.summarise = [](const Record& stacked) { return std::vector{KeyDriftMean(stacked)}; };
  return type;
}

}  // namespace midscope
