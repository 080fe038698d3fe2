// SPDX-License-Identifier: MIT
#include "probes/cli/commands/influence_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/influence/cesaro.h"
#include "probes/measure/influence/influence_names.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShownLayers = 10;

// Reads the numbers of a record influence_by_place.
class ByPlace {
 public:
  explicit ByPlace(const Record& record) : record_(record) {}

  int64_t Size(const char* axis) const { return AxisOf(record_, axis).size; }
  bool Has(const std::string& array) const { return record_.FindArray(array) != nullptr; }
  int64_t PlaceAt(int64_t index) const {
    return static_cast<int64_t>(AxisOf(record_, "place").values[static_cast<size_t>(index)]);
  }
  // Returns the mean answer_nll at a place; NaN without an answer.
  double Nll(int64_t place) const {
    return Has(kAnswerNll) ? Values(kAnswerNll)[static_cast<size_t>(place)] : std::nan("");
  }
  // Returns an element of an array [place, layer]; NaN without such an array.
  double At(const std::string& array, int64_t place, int64_t layer) const {
    return Has(array) ? Values(array)[static_cast<size_t>(place * Size("layer") + layer)]
                      : std::nan("");
  }
  // Returns the mean over places of an element of an array [place, layer].
  double MeanAt(const std::string& array, int64_t layer) const {
    std::vector<double> values;
    for (int64_t place = 0; place < Size("place"); ++place)
      values.push_back(At(array, place, layer));
    return MeanOfNumbers(values);
  }
  // Returns the geometric mean over places of NAME_gold_ratio.
  double MeanRatio(const std::string& name, int64_t layer) const {
    std::vector<double> values;
    for (int64_t place = 0; place < Size("place"); ++place)
      values.push_back(std::log(At(name + "_gold_ratio", place, layer)));
    return std::exp(MeanOfNumbers(values));
  }
  // Returns the means over places, [part], of an array [place, layer, part] at the embeddings.
  std::vector<double> MeanParts(const std::string& array) const {
    const auto parts = static_cast<size_t>(Size("part"));
    const size_t row = static_cast<size_t>(Size("layer")) * parts;
    const std::vector<double>& values = Values(array);
    std::vector<double> means;
    for (size_t part = 0; part < parts; ++part) {
      std::vector<double> of_places;
      for (size_t at = part; at < values.size(); at += row) of_places.push_back(values[at]);
      means.push_back(MeanOfNumbers(of_places));
    }
    return means;
  }

 private:
  const std::vector<double>& Values(const std::string& array) const {
    return ArrayValues<double>(record_, array);
  }

  const Record& record_;
};

std::string NormText(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.3g}", value);
}

std::string PartText(int64_t part, int64_t parts) {
  return fmt::format("{:g}-{:g} %", 100.0 * static_cast<double>(part) / static_cast<double>(parts),
                     100.0 * static_cast<double>(part + 1) / static_cast<double>(parts));
}

// Returns the name of the gradient that tables show: the answer's, if there is an answer.
std::string ShownGradient(const ByPlace& numbers) {
  return numbers.Has(std::string(kAnswerGradient) + "_by_part") ? kAnswerGradient : kOutputGradient;
}

TextTable PlacesTable(const ByPlace& numbers) {
  const std::string name = ShownGradient(numbers);
  TextTable table(
      {"place", "answer_nll", "gold", "distractors", "question", "gold / distractors [95 %]"});
  for (int64_t place = 0; place < numbers.Size("place"); ++place) {
    const auto at = [&](const char* array) { return numbers.At(name + array, place, 0); };
    const int64_t rank = numbers.PlaceAt(place);
    table.Add({rank == 0 ? "-" : std::to_string(rank), NormText(numbers.Nll(place)),
               NormText(at("_gold")), NormText(at("_distractors")), NormText(at("_question")),
               WithInterval(at("_gold_ratio"), {at("_gold_ratio_low"), at("_gold_ratio_high")})});
  }
  return table;
}

TextTable LayersTable(const ByPlace& numbers) {
  const std::string name = ShownGradient(numbers);
  TextTable table({"layer", "gold", "distractors", "question", "gold / distractors"});
  const int64_t layers = numbers.Size("layer");
  const int64_t shown = std::min(layers, kShownLayers);
  for (int64_t i = 0; i < shown; ++i) {
    const int64_t layer = shown == 1 ? 0 : i * (layers - 1) / (shown - 1);
    table.Add({std::to_string(layer), NormText(numbers.MeanAt(name + "_gold", layer)),
               NormText(numbers.MeanAt(name + "_distractors", layer)),
               NormText(numbers.MeanAt(name + "_question", layer)),
               NormText(numbers.MeanRatio(name, layer))});
  }
  return table;
}

TextTable PartsTable(const ByPlace& numbers) {
  const int64_t parts = numbers.Size("part");
  const auto column = [&](const std::string& name) {
    return numbers.Has(name) ? numbers.MeanParts(name)
                             : std::vector<double>(static_cast<size_t>(parts), std::nan(""));
  };
  const std::vector<double> theory = column(kClosedFormByPart);
  const std::vector<double> answer = column(std::string(kAnswerGradient) + "_by_part");
  const std::vector<double> output = column(std::string(kOutputGradient) + "_by_part");
  TextTable table({"part of the prompt", "answer's gradient", "output's gradient", "closed form"});
  for (size_t part = 0; part < answer.size(); ++part) {
    table.Add({PartText(static_cast<int64_t>(part), parts), NormText(answer[part]),
               NormText(output[part]), NormText(theory[part])});
  }
  return table;
}

Json IntegerOrNumber(double value) {
  return value == std::floor(value) ? Json(static_cast<int64_t>(value)) : Json(value);
}

// Adds to `rows` the values of all arrays over exactly the axes `axes`, one object per index.
void AddRows(const Record& record, const std::vector<std::string>& axes, Json* rows) {
  for (const Array& array : record.arrays) {
    if (array.axes != axes) continue;
    const auto& values = std::get<std::vector<double>>(array.data);
    if (rows->empty()) rows->get_ref<Json::array_t&>().resize(values.size(), Json::object());
    for (size_t i = 0; i < values.size(); ++i) {
      size_t rest = i;
      Json& row = (*rows)[i];
      std::vector<std::pair<std::string, double>> index;
      for (size_t axis = axes.size(); axis-- > 0;) {
        const Axis& of = AxisOf(record, axes[axis]);
        const auto size = static_cast<size_t>(of.size);
        const auto at = static_cast<double>(rest % size);
        index.emplace_back(axes[axis], of.values.empty() ? at : of.values[rest % size]);
        rest /= size;
      }
      for (size_t axis = index.size(); axis-- > 0;)
        row[index[axis].first] = IntegerOrNumber(index[axis].second);
      row[array.name] = NumberOrNull(values[i]);
    }
  }
}

// Returns the fit of the closed form; nullopt if the record lacks it.
std::optional<CesaroFit> FitOf(const Record& by_place) {
  if (by_place.FindArray(kClosedFormByPart) == nullptr) return std::nullopt;
  return CesaroFit{Value<double>(by_place, kClosedFormAlpha),
                   Value<double>(by_place, kClosedFormDifference)};
}

}  // namespace

Printout InfluenceText(const Record& by_place) {
  const ByPlace numbers(by_place);
  const bool has_answer = ShownGradient(numbers) == kAnswerGradient;
  const std::string what = has_answer ? "the answer's log likelihood" : "the last token's logits";
  Printout text;
  text.AddTitled(fmt::format("Norm of the gradient of {} by the embeddings, mean per token", what),
                 PlacesTable(numbers));
  text.AddTitled("As above by the stream before each layer, means over places",
                 LayersTable(numbers));
  text.AddTitled("Norm by the embeddings over the mean of all tokens, means over places",
                 PartsTable(numbers));
  if (const std::optional<CesaroFit> fit = FitOf(by_place)) {
    text += fmt::format(
        "closed form: even attention with alpha = {:.2f}; logarithms differ by {:.2f} (root mean "
        "square)\n",
        fit->alpha, fit->difference);
  }
  return text;
}

Json InfluenceJson(const Record& by_place) {
  Json json = {{"samples", Value<int64_t>(by_place, "samples")},
               {"places", Json::array()},
               {"rows", Json::array()},
               {"parts", Json::array()},
               {"shares", Json::array()},
               {"cesaro", nullptr}};
  AddRows(by_place, {"place"}, &json["places"]);
  AddRows(by_place, {"place", "layer"}, &json["rows"]);
  AddRows(by_place, {"place", "layer", "part"}, &json["parts"]);
  AddRows(by_place, {"share"}, &json["shares"]);
  if (const std::optional<CesaroFit> fit = FitOf(by_place)) {
    json["cesaro"] = {{"alpha", fit->alpha},
                      {"difference", fit->difference},
                      {"by_part", ArrayValues<double>(by_place, kClosedFormByPart)}};
  }
  return json;
}

}  // namespace midscope::cli
