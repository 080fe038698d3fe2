// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/position_coverage.h"

#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/positions/cream.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// The distances and positions covered by the samples of one sampler.
struct Shown {
  std::vector<double> coverage;        // [samples]
  std::vector<int64_t> pairs;          // [distance]
  std::vector<int64_t> first_sample;   // [distance]
  std::vector<int64_t> sample_counts;  // [position]
};

Shown Count(const SampledPositions& positions, int64_t samples, const JobContext& job) {
  const int64_t context = positions.request.context;
  Shown shown;
  shown.first_sample.resize(static_cast<size_t>(context));
  shown.sample_counts.resize(static_cast<size_t>(context));
  DistanceCounts distances(context);
  int64_t covered = 0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    job.ThrowIfCancelled();
    job.Report({"coverage of " + positions.sampler, sample, samples, "samples"});
    const std::vector<int64_t> ids = positions.draw(sample).position_id;
    for (const int64_t id : ids) ++shown.sample_counts[static_cast<size_t>(id)];
    distances.Add(ids);
    // When all distances are covered, the coverage no longer changes.
    if (covered < context || sample + 1 == samples) {
      shown.pairs = distances.Counts();
      for (size_t distance = 0; distance < shown.pairs.size(); ++distance) {
        if (shown.pairs[distance] == 0 || shown.first_sample[distance] != 0) continue;
        shown.first_sample[distance] = sample + 1;
        ++covered;
      }
    }
    shown.coverage.push_back(static_cast<double>(covered) / static_cast<double>(context));
  }
  return shown;
}

std::vector<double> PerSample(const std::vector<int64_t>& counts, int64_t samples) {
  std::vector<double> means;
  means.reserve(counts.size());
  for (const int64_t count : counts) {
    means.push_back(static_cast<double>(count) / static_cast<double>(samples));
  }
  return means;
}

template <typename T>
void Append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void CheckCoverage(const std::vector<SampledPositions>& samplers) {
  for (const SampledPositions& positions : samplers) {
    const int64_t context = positions.request.context;
    if (context != samplers.front().request.context) {
      throw std::logic_error("coverage of samplers with different contexts");
    }
    if (context > kLongestCoveredContext) {
      throw UsageError("coverage",
                       "a context of " + std::to_string(context) + " positions is too long for it",
                       "At most " + std::to_string(kLongestCoveredContext));
    }
  }
}

}  // namespace

SampledPositions MakeSampledPositions(const PositionSampler& sampler,
                                      const PositionRequest& request, const OptionSet& options) {
  return {sampler.name, request, PreparePositions(sampler, request, options)};
}

Record PositionSamples(const SampledPositions& positions, int64_t first, int64_t samples,
                       const JobContext& job) {
  std::vector<int64_t> position_id;
  std::vector<int64_t> token_index;
  std::vector<int64_t> indices(static_cast<size_t>(samples));
  std::iota(indices.begin(), indices.end(), first);
  for (const int64_t sample : indices) {
    job.ThrowIfCancelled();
    const PositionSample drawn = positions.draw(sample);
    Append(position_id, drawn.position_id);
    Append(token_index, drawn.token_index);
  }
  const std::vector<std::string> axes = {"sample", "token"};
  Record record;
  record.name = "positions";
  record.axes = {ValuedAxis("sample", indices), CountedAxis("token", positions.request.tokens)};
  record.arrays = {
      {"position_id", axes, std::move(position_id), "", "position id of each token"},
      {"token_index", axes, std::move(token_index), "", "index of the token in its document"}};
  record.attributes["sampler"] = positions.sampler;
  record.attributes["context"] = positions.request.context;
  record.attributes["document_tokens"] = positions.request.DocumentTokens();
  record.attributes["seed"] = static_cast<int64_t>(positions.request.seed);
  record.signal = "position_id";
  record.Check();
  return record;
}

Record PositionCoverage(const std::vector<SampledPositions>& samplers, int64_t samples,
                        const JobContext& job) {
  CheckCoverage(samplers);
  std::vector<std::string> names;
  std::vector<double> coverage;
  std::vector<double> pairs;
  std::vector<int64_t> first_sample;
  std::vector<double> shown_share;
  for (const SampledPositions& positions : samplers) {
    const Shown shown = Count(positions, samples, job);
    names.push_back(positions.sampler);
    Append(coverage, shown.coverage);
    Append(pairs, PerSample(shown.pairs, samples));
    Append(first_sample, shown.first_sample);
    Append(shown_share, PerSample(shown.sample_counts, samples));
  }
  std::vector<int64_t> counts(static_cast<size_t>(samples));
  std::iota(counts.begin(), counts.end(), 1);
  const int64_t context = samplers.front().request.context;
  Record record;
  record.name = "position_coverage";
  record.axes = {LabelledAxis("sampler", names), ValuedAxis("samples", counts),
                 CountedAxis("distance", context), CountedAxis("position", context)};
  record.arrays = {
      {"coverage",
       {"sampler", "samples"},
       std::move(coverage),
       "",
       "share of distances 0 to L-1 between some two tokens of so many samples (arXiv 2406.07138, "
       "Eq. 2)"},
      {"pairs_per_sample",
       {"sampler", "distance"},
       std::move(pairs),
       "",
       "mean number of pairs of query and key of the distance"},
      {"first_sample",
       {"sampler", "distance"},
       std::move(first_sample),
       "",
       "number of samples after which the distance is there; 0: never"},
      {"shown",
       {"sampler", "position"},
       std::move(shown_share),
       "",
       "share of the samples that hold the position id"}};
  record.attributes["seed"] = static_cast<int64_t>(samplers.front().request.seed);
  record.signal = "coverage";
  record.Check();
  return record;
}

Record CreamTheorems(const PositionRequest& request, const OptionSet& options) {
  Record record;
  record.name = "cream_theorems";
  std::vector<std::string> labels;
  struct Column {
    std::string name;
    std::string description;
    std::vector<int64_t> values{};
  };
  std::vector<Column> columns = {
      {"end_tokens", "L_h and L_t: tokens of head and of tail"},
      {"longest", "MAX: the largest distance within a segment"},
      {"distances", "the most distances that one sample can show: MAX + 2 N - 2"},
      {"lower_first", "first P_s of the lower range of Theorem B.1, (10)"},
      {"lower_last", "last P_s of the lower range; below the first: there is none"},
      {"upper_first", "first P_s of the upper range of Theorem B.1, (11)"},
      {"upper_last", "last P_s of the upper range; below the first: there is none"},
      {"middle_positions", "positions that such middles hold: S_m of Theorem B.3"}};
  for (const CreamSegments& segments : CreamSegmentChoices(request, options)) {
    if (segments.head == 0 || segments.tail == 0) continue;
    const LargestCoverage largest = CreamLargestCoverage(segments, request.context);
    labels.push_back("L_h = " + std::to_string(segments.head));
    const int64_t values[] = {segments.head,
                              largest.longest,
                              largest.distances,
                              largest.starts[0].first,
                              largest.starts[0].second,
                              largest.starts[1].first,
                              largest.starts[1].second,
                              largest.middle_positions};
    for (size_t i = 0; i < columns.size(); ++i) columns[i].values.push_back(values[i]);
  }
  record.axes = {LabelledAxis("segments", labels)};
  for (Column& column : columns) {
    record.arrays.push_back(
        {column.name, {"segments"}, std::move(column.values), "", column.description});
  }
  record.attributes["tokens"] = request.tokens;
  record.attributes["context"] = request.context;
  record.Check();
  return record;
}

}  // namespace midscope
