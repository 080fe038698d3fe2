// SPDX-License-Identifier: MIT
#include "probes/measure/influence/influence_records.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/rank_statistics.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

constexpr const char* kGold = "gold";
constexpr const char* kQuestion = "question";

bool Overlap(const PromptSpan& a, const PromptSpan* b) {
  return b != nullptr && a.token_begin < b->token_end && b->token_begin < a.token_end;
}

// Returns for each token whether it is part of the passage of that name, or of a distractor.
std::vector<uint8_t> TokensOf(const Prompt& prompt, const std::string& name) {
  const PromptSpan* gold = prompt.FindSpan(kGold);
  const PromptSpan* question = prompt.FindSpan(kQuestion);
  std::vector<uint8_t> tokens(prompt.ids.size(), 0);
  for (const PromptSpan& span : prompt.spans) {
    const bool is_distractor = !Overlap(span, gold) && !Overlap(span, question);
    if (name == "distractors" ? !is_distractor : span.name != name) continue;
    std::fill(tokens.begin() + span.token_begin, tokens.begin() + span.token_end, 1);
  }
  return tokens;
}

// Returns the mean over the chosen tokens, [layer], of norms [layer, token]; NaN if there are none.
std::vector<double> MeansOver(const std::vector<double>& norms,
                              const std::vector<uint8_t>& chosen) {
  std::vector<double> means;
  for (size_t row = 0; row < norms.size(); row += chosen.size()) {
    std::vector<double> values;
    for (size_t token = 0; token < chosen.size(); ++token) {
      if (chosen[token] != 0) values.push_back(norms[row + token]);
    }
    means.push_back(Mean(values));
  }
  return means;
}

// Returns the means of parts [layer, part] relative to the mean of all tokens.
std::vector<double> RelativeByPart(const std::vector<double>& norms, size_t tokens, size_t parts) {
  std::vector<double> relative;
  for (size_t row = 0; row < norms.size(); row += tokens) {
    const auto of_layer = std::span(norms).subspan(row, tokens);
    std::vector<std::vector<double>> of_part(parts);
    for (size_t token = 0; token < tokens; ++token)
      of_part[token * parts / tokens].push_back(of_layer[token]);
    for (const std::vector<double>& values : of_part)
      relative.push_back(Mean(values) / Mean(of_layer));
  }
  return relative;
}

void AddGradient(const std::string& name, const std::string& unit, const std::string& what,
                 const Prompt& prompt, const std::vector<double>& norms, int64_t parts,
                 Record* record) {
  if (norms.empty()) return;
  for (const char* passage : {kGold, "distractors", kQuestion}) {
    record->arrays.push_back({name + "_" + passage,
                              {"layer"},
                              MeansOver(norms, TokensOf(prompt, passage)),
                              unit,
                              what + ", mean over the tokens of the passage"});
  }
  record->arrays.push_back({name + "_by_part",
                            {"layer", "part"},
                            RelativeByPart(norms, prompt.ids.size(), static_cast<size_t>(parts)),
                            "",
                            what + ", mean over the part's tokens, over that of all tokens"});
  record->arrays.push_back({name, {"layer", "token"}, norms, unit, what});
}

void AddHeads(const std::string& name, const std::vector<double>& effects, Record* record) {
  record->arrays.push_back({name,
                            {"layer", "head"},
                            effects,
                            "nats",
                            "first-order estimate of the change of answer_nll"});
}

}  // namespace

std::string HeadEstimateName(bool with_mean, bool all_rows) {
  return std::string(with_mean ? "head_mean_effect" : "head_zero_effect") +
         (all_rows ? "_all_rows" : "");
}

Record InfluenceRecord(const Prompt& prompt, const ActivationGradients& found, int64_t parts) {
  Record record;
  record.name = kInfluenceRecord;
  record.axes = {CountedAxis("layer", found.layers), CountedAxis("token", found.tokens),
                 CountedAxis("part", parts)};
  AddGradient(kAnswerGradient, "nats",
              "norm of the gradient of the answer's log likelihood before the layer", prompt,
              found.answer_norm, parts, &record);
  AddGradient(kOutputGradient, "",
              "Frobenius norm of the Jacobian of the last token's logits before the layer", prompt,
              found.output_norm, parts, &record);
  if (!found.answer_rows.zero.empty()) {
    record.axes.push_back(CountedAxis("head", found.heads));
    AddHeads(HeadEstimateName(false, false), found.answer_rows.zero, &record);
    AddHeads(HeadEstimateName(true, false), found.answer_rows.mean, &record);
    AddHeads(HeadEstimateName(false, true), found.all_rows.zero, &record);
    AddHeads(HeadEstimateName(true, true), found.all_rows.mean, &record);
    if (!found.last_row_patch.empty()) AddHeads(kHeadPatchEstimate, found.last_row_patch, &record);
  }
  record.attributes["prompt_tokens"] = found.tokens;
  if (std::isfinite(found.answer_nll)) record.attributes[kAnswerNll] = found.answer_nll;
  record.signal = found.answer_norm.empty() ? kOutputGradient : kAnswerGradient;
  return record;
}

namespace {

// The number of values of an array of one sample and place.
size_t CellSize(const Record& record, const Array& array) {
  size_t size = 1;
  for (size_t axis = 2; axis < array.axes.size(); ++axis)
    size *= static_cast<size_t>(AxisOf(record, array.axes[axis]).size);
  return size;
}

// Returns the values of the samples, [place * cell][sample].
std::vector<std::vector<double>> BySample(const Record& record, const Array& array) {
  const auto& values = std::get<std::vector<double>>(array.data);
  const size_t row = CellSize(record, array) * static_cast<size_t>(AxisOf(record, "place").size);
  std::vector<std::vector<double>> columns(row);
  for (size_t i = 0; i < values.size(); ++i) columns[i % row].push_back(values[i]);
  return columns;
}

// Adds NAME_gold_ratio with its interval.
void AddRatio(const Record& stacked, const std::string& name, Record* means) {
  const Array* gold = stacked.FindArray(name + "_gold");
  const Array* others = stacked.FindArray(name + "_distractors");
  if (gold == nullptr || others == nullptr) return;
  const auto of_gold = BySample(stacked, *gold);
  const auto of_others = BySample(stacked, *others);
  std::vector<double> ratio;
  std::vector<double> low;
  std::vector<double> high;
  for (size_t cell = 0; cell < of_gold.size(); ++cell) {
    std::vector<double> logarithms;
    for (size_t i = 0; i < of_gold[cell].size(); ++i)
      logarithms.push_back(std::log(of_gold[cell][i] / of_others[cell][i]));
    const Interval interval = MeanInterval(logarithms);
    ratio.push_back(std::exp(Mean(logarithms)));
    low.push_back(std::exp(interval.low));
    high.push_back(std::exp(interval.high));
  }
  const std::vector<std::string> axes = {"place", "layer"};
  const std::string ratio_name = name + "_gold_ratio";
  means->arrays.push_back({ratio_name, axes, std::move(ratio), "",
                           "gold's mean norm over that of distractors, geometric mean of samples"});
  means->arrays.push_back(
      {ratio_name + "_low", axes, std::move(low), "", "lower end of its 95 % interval"});
  means->arrays.push_back(
      {ratio_name + "_high", axes, std::move(high), "", "upper end of its 95 % interval"});
}

}  // namespace

Record InfluenceByPlace(const Record& stacked) {
  Record means;
  means.name = kInfluenceByPlaceRecord;
  for (const Axis& axis : stacked.axes) {
    if (axis.name != "sample" && axis.name != "token") means.axes.push_back(axis);
  }
  for (const Array& array : stacked.arrays) {
    const bool is_by_token =
        std::find(array.axes.begin(), array.axes.end(), "token") != array.axes.end();
    if (is_by_token || !std::holds_alternative<std::vector<double>>(array.data)) continue;
    std::vector<double> values;
    for (const std::vector<double>& column : BySample(stacked, array))
      values.push_back(MeanOfNumbers(column));
    means.arrays.push_back({array.name,
                            {array.axes.begin() + 1, array.axes.end()},
                            std::move(values),
                            array.unit,
                            array.description + "; mean over samples"});
  }
  for (const char* name : kInfluenceKinds) AddRatio(stacked, name, &means);
  means.attributes["samples"] = AxisOf(stacked, "sample").size;
  means.signal = stacked.signal + "_by_part";
  return means;
}

}  // namespace midscope
