// SPDX-License-Identifier: MIT
// The measures of a sweep's samples, with 95 % intervals of means and of paired differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/measure/statistics/statistics.h"

namespace midscope {

// Number of ROUGE scores of a text: ROUGE-1, ROUGE-2, ROUGE-L.
inline constexpr size_t kRougeKinds = 3;
// Place of the answered piece if the text gives the answer of no piece.
inline constexpr int64_t kNoPlace = -1;

// The outcome of one sample. Arrays are [setting, place], row-major, unless stated otherwise; empty
// if not requested.
struct SampleOutcome {
  int64_t sample = 0;
  std::vector<double> answer_nll;             // nats, sum over the answer's tokens
  std::vector<uint8_t> correct;               // whether the greedy continuation is the answer
  std::vector<uint8_t> choice_correct = {};   // whether a right choice is the likeliest
  std::vector<double> generation_score = {};  // 0 to 1, by the task's scorer
  // [setting, place, kRougeKinds]: ROUGE scores whose geometric mean is the task's score.
  std::vector<double> rouge = {};
  // [setting]: why the setting could not be run on this sample; "" if it was run. Empty: all were
  // run. Other arrays are meaningless for a setting that was not run.
  std::vector<std::string> failures = {};
  // [setting]: whether a prompt exceeds the context. Empty: no prompt does.
  std::vector<uint8_t> beyond_context = {};
  std::vector<int64_t> answer_tokens = {};  // number of answer tokens, [place]
  // [place]: answer_nll of the answer in the source run of patches, in nats. Empty: nothing is
  // patched.
  std::vector<double> source_nll = {};
  // Properties of generated text (sample_generation.h). Places are numbered as in the task;
  // kNoPlace: none. Arrays of places are empty if the pieces have no answers.
  std::vector<uint8_t> generation_cut = {};
  std::vector<uint8_t> generation_empty = {};
  std::vector<int64_t> answered_place = {};
  std::vector<int64_t> first_piece_place = {};  // place of the first piece, [place]
  std::vector<int64_t> last_piece_place = {};   // place of the last piece, [place]
  // [setting]: wall time in seconds; NaN if not run. Empty in a scan.
  std::vector<double> setting_seconds = {};
  // [place]: whether the task cut the prompt, and the index of the gold piece's first token (-1: it
  // was cut out). Empty: the task does not cut.
  std::vector<uint8_t> prompt_cut = {};
  std::vector<int64_t> gold_token_begin = {};
  // [place]: 1-based rank of the gold piece. Empty: the task does not rank pieces.
  std::vector<int64_t> gold_rank = {};
  std::vector<double> right_share = {};  // share of the right choices in the likelihood, 0 to 1
  std::string group = {};  // the sample's data set, "STEM/astronomy"; "": only one data set

  bool Ran(size_t setting) const { return failures.empty() || failures[setting].empty(); }
};

enum class MeasureKind {
  kAmount,  // any numbers >= 0
  kShare,   // 0 or 1 in every sample
  kScore,   // between 0 and 1
  kRouge,   // ROUGE: the geometric mean of three means, each between 0 and 1
};

// The values of one measure for every sample and cell [setting, place]. The measures of a sweep
// depend on how it scores answers.
struct OutcomeMeasure {
  std::string
      name;  // "answer_nll", "accuracy", "choice_accuracy", "right_share", "generation_score"
  std::string unit;  // "nats"
  std::string description;
  bool higher_is_better = true;
  MeasureKind kind = MeasureKind::kAmount;
  size_t width = 1;                         // numbers per cell: kRougeKinds for kRouge
  std::vector<std::vector<double>> values;  // [sample][cell, width], samples ascending
  std::vector<std::vector<uint8_t>> ran{};  // [sample][setting]; empty: all

  bool Ran(size_t sample, size_t setting) const { return ran.empty() || ran[sample][setting] != 0; }
};

// Returns the measures for which the outcomes have values.
std::vector<OutcomeMeasure> MeasuresOf(std::vector<SampleOutcome> outcomes);

// Values of one measure under one setting, [sample, place, width].
struct MeasureRows {
  MeasureKind kind = MeasureKind::kAmount;
  size_t width = 1;
  size_t places = 1;
  std::vector<double> values;

  size_t columns() const { return places * width; }
  size_t samples() const { return values.size() / columns(); }
};

// Returns the values of one setting at `count` of `places` places from `first_place` on, for the
// samples on which this setting and all settings of `with` were run.
MeasureRows RowsOf(const OutcomeMeasure& measure, size_t setting, size_t places, size_t first_place,
                   size_t count, const std::vector<size_t>& with = {});

// Returns the measure at each place, computed from the means of the columns; [place].
std::vector<double> PlaceMeans(const MeasureRows& rows);

struct MeanWithInterval {
  double mean = 0;
  Interval interval;
};

// Returns the mean of a measure over samples and places. The interval is NaN for fewer than two
// samples. Method by kind:
// clang-format off
//   kAmount  Student's t over the samples' means
//   kShare   Wilson's score; over several places on the effective number of samples
//   kScore   Student's t, cut to 0..1; Wilson's score if all samples are equal
//   kRouge   percentile bootstrap over samples
// clang-format on
MeanWithInterval MeanOf(const MeasureRows& rows, uint64_t seed);

// Returns the mean of `rows` minus the mean of `others`, paired by sample. Method by kind:
// clang-format off
//   kAmount  Student's t over the samples' differences
//   kShare   Tango's score; over several places on the effective number of samples
//   kScore   Student's t, cut to -1..1; Tango's score if all differences are equal
//   kRouge   percentile bootstrap over samples
// clang-format on
MeanWithInterval DifferenceOf(const MeasureRows& rows, const MeasureRows& others, uint64_t seed);
// Returns the p value of the mean difference between `rows` and `others` in a two-sided permutation
// test, which changes signs of the samples' differences; for kRouge, swaps each sample's two rows.
double DifferencePValue(const MeasureRows& rows, const MeasureRows& others, uint64_t seed);

// Return the name of the method of an interval, for tables and files: "Wilson's score".
std::string MeanMethod(MeasureKind kind, bool over_places);
std::string DifferenceMethod(MeasureKind kind, bool over_places);
inline constexpr const char* kBootstrapMethod = "percentile bootstrap over samples";

// Tests whether places differ within samples; also returns the gap between places expected by
// chance.
ColumnEffect PlaceEffect(const MeasureRows& rows, uint64_t seed);

// Returns the gap: largest minus smallest of PlaceMeans. The other functions return its bootstrap
// interval, and interval and p value of the difference of two gaps.
double GapOf(const MeasureRows& rows);
Interval GapInterval(const MeasureRows& rows, uint64_t seed);
Interval GapDifferenceInterval(const MeasureRows& rows, const MeasureRows& others, uint64_t seed);
double GapDifferencePValue(const MeasureRows& rows, const MeasureRows& others, uint64_t seed);

}  // namespace midscope
