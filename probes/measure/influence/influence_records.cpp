// SPDX-License-Identifier: MIT
#include "probes/measure/influence/influence_records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/measure/influence/cesaro.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/rank_statistics.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

constexpr const char* kGold = "gold";
constexpr const char* kQuestion = "question";
constexpr const char* kShare = "share";
constexpr const char* kPart = "part";
constexpr const char* kPromptTokens = "prompt_tokens";
constexpr int64_t kShares = 100;

bool Overlap(const PromptSpan& a, const PromptSpan* b) {
  return b != nullptr && a.token_begin < b->token_end && b->token_begin < a.token_end;
}

// Returns, for each token, whether it is in the passage of that name (or in any distractor).
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

// Returns the mean over the chosen tokens of norms [layer, token]; [layer]; NaN if none are chosen.
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

// Returns RelativeByPart of each layer of norms [layer, token]: [layer, part].
std::vector<double> LayersByPart(const std::vector<double>& norms, size_t tokens, int64_t parts) {
  std::vector<double> relative;
  for (size_t row = 0; row < norms.size(); row += tokens) {
    const std::vector<double> layer = RelativeByPart(std::span(norms).subspan(row, tokens), parts);
    relative.insert(relative.end(), layer.begin(), layer.end());
  }
  return relative;
}

// Returns the axis of equal parts of the prompt; values: the middles of the parts in percent.
Axis ShareAxis() {
  Axis axis = CountedAxis(kShare, kShares);
  axis.unit = "%";
  for (int64_t i = 0; i < kShares; ++i)
    axis.values.push_back((static_cast<double>(i) + 0.5) * 100 / kShares);
  return axis;
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
                            {"layer", kPart},
                            LayersByPart(norms, prompt.ids.size(), parts),
                            "",
                            what + ", mean over the part's tokens, over that of all tokens"});
  record->arrays.push_back({name + "_by_share",
                            {kShare},
                            RelativeByPart(std::span(norms).first(prompt.ids.size()), kShares),
                            "",
                            what + " 0, by share of the prompt, over the mean of all tokens"});
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
                 CountedAxis(kPart, parts), ShareAxis()};
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
  record.attributes[kPromptTokens] = found.tokens;
  if (std::isfinite(found.answer_nll)) record.attributes[kAnswerNll] = found.answer_nll;
  record.signal = found.answer_norm.empty() ? kOutputGradient : kAnswerGradient;
  return record;
}

namespace {

// Returns the number of values of a stacked array for one sample and place.
size_t CellSize(const Record& record, const Array& array) {
  size_t size = 1;
  for (size_t axis = 2; axis < array.axes.size(); ++axis)
    size *= static_cast<size_t>(AxisOf(record, array.axes[axis]).size);
  return size;
}

// Returns the values of a stacked array by sample, [place * cell][sample].
std::vector<std::vector<double>> BySample(const Record& record, const Array& array) {
  const auto& values = std::get<std::vector<double>>(array.data);
  const size_t row = CellSize(record, array) * static_cast<size_t>(AxisOf(record, "place").size);
  std::vector<std::vector<double>> columns(row);
  for (size_t i = 0; i < values.size(); ++i) columns[i % row].push_back(values[i]);
  return columns;
}

// The mean over samples of each element, with its 95 % interval.
struct Means {
  std::vector<double> mean;
  std::vector<double> low;
  std::vector<double> high;

  void Add(const std::vector<double>& values) {
    const Interval interval = MeanInterval(values);
    mean.push_back(Mean(values));
    low.push_back(interval.low);
    high.push_back(interval.high);
  }
};

// Adds arrays NAME_low and NAME_high.
void AddInterval(const std::string& name, const std::string& unit, Means means, Record* record) {
  const std::vector<std::string> axes = {"place", "layer"};
  record->arrays.push_back(
      {name + "_low", axes, std::move(means.low), unit, "lower end of its 95 % interval"});
  record->arrays.push_back(
      {name + "_high", axes, std::move(means.high), unit, "upper end of its 95 % interval"});
}

// Adds the interval of NAME_gold, and NAME_gold_ratio with its interval.
void AddGold(const Record& stacked, const std::string& name, Record* record) {
  const Array* gold = stacked.FindArray(name + "_gold");
  const Array* others = stacked.FindArray(name + "_distractors");
  if (gold == nullptr || others == nullptr) return;
  const auto of_gold = BySample(stacked, *gold);
  const auto of_others = BySample(stacked, *others);
  Means norms;
  Means logarithms;
  for (size_t cell = 0; cell < of_gold.size(); ++cell) {
    norms.Add(of_gold[cell]);
    std::vector<double> of_ratios;
    for (size_t i = 0; i < of_gold[cell].size(); ++i)
      of_ratios.push_back(std::log(of_gold[cell][i] / of_others[cell][i]));
    logarithms.Add(of_ratios);
  }
  AddInterval(gold->name, gold->unit, std::move(norms), record);
  for (std::vector<double>* values : {&logarithms.mean, &logarithms.low, &logarithms.high}) {
    for (double& value : *values) value = std::exp(value);
  }
  const std::string ratio = name + "_gold_ratio";
  record->arrays.push_back(
      {ratio,
       {"place", "layer"},
       logarithms.mean,
       "",
       "gold's mean norm over that of distractors, geometric mean of samples"});
  AddInterval(ratio, "", std::move(logarithms), record);
}

// Returns the means over samples and places of an array by share.
std::vector<double> MeansByShare(const Array& array) {
  return ColumnMeans(std::get<std::vector<double>>(array.data), kShares);
}

// Returns the means over places, [part], of an array [place, layer, part] at the embeddings.
std::vector<double> PartsAtEmbeddings(const Record& by_place, const Array& array) {
  const auto& values = std::get<std::vector<double>>(array.data);
  const auto parts = static_cast<size_t>(AxisOf(by_place, kPart).size);
  const size_t row = parts * static_cast<size_t>(AxisOf(by_place, "layer").size);
  std::vector<double> of_places;
  for (size_t place = 0; place < values.size(); place += row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(place);
    of_places.insert(of_places.end(), begin, begin + static_cast<std::ptrdiff_t>(parts));
  }
  return ColumnMeans(of_places, parts);
}

// Fits the closed form to the output's gradient, if there is one. `tokens`: the prompts' mean
// length.
void AddClosedForm(int64_t tokens, Record* record) {
  const Array* by_part = record->FindArray(std::string(kOutputGradient) + "_by_part");
  if (by_part == nullptr) return;
  const std::vector<double> curve = PartsAtEmbeddings(*record, *by_part);
  const int64_t layers = AxisOf(*record, "layer").size;
  const CesaroFit fit = FitCesaro(curve, tokens, layers);
  if (std::isnan(fit.alpha)) return;
  const std::vector<double> theory = CesaroInfluence(tokens, layers, fit.alpha);
  const auto add = [&](const char* name, const char* axis, int64_t parts) {
    record->arrays.push_back({name,
                              {axis},
                              RelativeByPart(theory, parts),
                              "",
                              "influence under even attention, over the mean of all tokens"});
  };
  add(kClosedFormByPart, kPart, AxisOf(*record, kPart).size);
  add(kClosedFormByShare, kShare, kShares);
  record->attributes[kClosedFormAlpha] = fit.alpha;
  record->attributes[kClosedFormDifference] = fit.difference;
}

// Returns the mean length of the prompts.
int64_t MeanTokens(const Record& stacked) {
  const auto& tokens = ArrayValues<int64_t>(stacked, kPromptTokens);
  return std::accumulate(tokens.begin(), tokens.end(), int64_t{0}) / std::ssize(tokens);
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
    if (array.axes.back() == kShare) {
      means.arrays.push_back({array.name,
                              {kShare},
                              MeansByShare(array),
                              array.unit,
                              array.description + "; mean over samples and places"});
      continue;
    }
    std::vector<double> values;
    for (const std::vector<double>& column : BySample(stacked, array))
      values.push_back(MeanOfNumbers(column));
    means.arrays.push_back({array.name,
                            {array.axes.begin() + 1, array.axes.end()},
                            std::move(values),
                            array.unit,
                            array.description + "; mean over samples"});
  }
  for (const char* name : kInfluenceKinds) AddGold(stacked, name, &means);
  AddClosedForm(MeanTokens(stacked), &means);
  means.attributes["samples"] = AxisOf(stacked, "sample").size;
  means.signal = stacked.signal + "_by_part";
  return means;
}

}  // namespace midscope
