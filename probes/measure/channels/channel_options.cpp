// SPDX-License-Identifier: MIT
#include "probes/measure/channels/channel_options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

std::vector<std::string> RankingNames() { return NamesIn(kRankings); }

std::vector<Parameter> SearchOptions() {
  return {
      WholeNumberParameter("seed", "what random text and examples are drawn by", 0, kNoMaximum, 1),
      ChoiceParameter(
          "variant",
          "paper: trends from position 100 on, smoothness by second differences, factors "
          "0.5, 0, -0.5 and -1 (the paper's; smoothing by Savitzky-Golay over 11 positions "
          "from position 200 on is our reading of the code, and the loss is summed over "
          "the answer's tokens at all places, of plain prompts); code: as the public code, "
          "from position 300 on, window 10, factor 0, layers 10-25, the loss a mean over "
          "tokens with each example at one place, rounded to 4 decimals (it has prompts in "
          "the model's chat template)",
          {"paper", "code"}),
      ChoiceParameter(
          "preset",
          "quick: 24 prompts, 100 examples of a list of 20 lines; paper: the published "
          "sizes, 200 prompts (the public code's), 100 examples of 50 key-value pairs, layers of "
          "the paper's Table 5, with an estimate of the time first",
          {"quick", "paper"}),
      WholeNumberParameter("prompts",
                           "prompts of random text whose hidden states are averaged; without it 24 "
                           "(--preset paper: 200)",
                           1, 100000, 24),
      WholeNumberParameter("tokens", "length of each, in tokens", 1, 1000000, 1000),
      WholeNumberParameter("top", "how many candidates are shown and validated", 1, 1000, 10),
      ChoiceParameter(
          "ranking",
          "full: the channels over the threshold, smoothest first; the ablations of the "
          "paper's Table 3: no-monotonicity: the smoothest of all channels; "
          "no-smoothness: by the number of monotone layers; no-validation: the first "
          "--top by the number of monotone layers, smoothest first, and no validation",
          RankingNames()),
      WholeNumberParameter(
          "threshold",
          "epsilon: a channel needs a trend in more layers than this; without it a "
          "quarter of the model's",
          0, 10000),
      WholeNumberParameter("trend-skip",
                           "positions left out of the trend; without it 100 (variant code: 300)", 0,
                           1000000),
      WholeNumberParameter("smoothness-skip", "positions left out of the smoothness", 0, 1000000,
                           200),
      WholeNumberParameter("smoothing",
                           "window of the Savitzky-Golay smoothing before second differences, 5 or "
                           "more; 0: none, as the paper states them; without it 11 (variant code: "
                           "10)",
                           0, 10001)};
}

std::vector<Parameter> ValidationOptions() {
  Parameter validate = ChoiceParameter(
      "validate",
      "what candidates are tried on: list (20 lines), kv (10 pairs; 50 with --preset "
      "paper) or none; by default what the preset says",
      {"list", "kv", "none"});
  return {
      validate,
      WholeNumberParameter(
          "examples",
          "how many examples, each at every place under every trial; without it 100 "
          "(kv: 40, with --preset paper 100)",
          1, 1000000, 100),
      PlacesOption("",
                   "default: first, quarter, middle, three quarters, last; all of 5 or fewer "
                   "(kv with --preset "
                   "paper: 13,25,37)"),
      TextParameter("factors", "what each candidate is multiplied by; default 0.5,0,-0.5,-1"),
      TextParameter("layers",
                    "in which layers it is scaled, such as 8-25; default: from a quarter to five "
                    "sixths of the model; with --preset paper 10-22 of 28, 10-25 of 32, 10-34 "
                    "of 40, 10-42 of 48 (Table 5)"),
      ChoiceParameter("loss",
                      "of an example: nats summed over the answer's tokens, or their mean; without "
                      "it summed (variant code: mean)",
                      {"summed", "mean"}),
      ChoiceParameter(
          "example-places",
          "whether an example's loss is the mean over all places, or that at one place, "
          "in turn; without it all (variant code: one)",
          {"all", "one"}),
      FlagParameter("control", "tries as many channels drawn by chance besides")};
}

}  // namespace

std::vector<Parameter> ChannelOptions() {
  std::vector<Parameter> all;
  for (const auto& more : {InGroup("Search", SearchOptions()),
                           InGroup("Validation", ValidationOptions()), PromptFormatOptions()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool IsOfTrials(const std::string& option) {
  const std::vector<Parameter> all = ValidationOptions();
  return option != "validate" && std::any_of(all.begin(), all.end(), [&](const Parameter& each) {
           return each.name == option;
         });
}

std::string StatedJson(const OptionSet& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(options.ToJson());
  for (const Parameter& option : options.descriptions()) {
    if (!options.IsSet(option.name)) json.erase(option.name);
  }
  return json.dump();
}

// Returns the preset's sizes; published: 200 chunks of text (the public code's default), 100
// examples of 50 pairs with the gold pair before 12, 24 or 36 others.
ChannelPreset ReadPreset(const OptionSet& options) {
  if (options.Text("preset") == "quick") return {};
  return {200, "kv", "50", "13,25,37", 100, 100};
}

std::vector<double> ReadFactors(const OptionSet& options, bool is_code) {
  if (!options.IsSet("factors")) {
    if (is_code) return {0};
    return {0.5, 0, -0.5, -1};
  }
  std::vector<double> factors;
  const std::string& text = options.Text("factors");
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    double factor = 0;
    if (!ReadWhole(std::string_view(text).substr(begin, end - begin), factor)) {
      throw UsageError("option --factors", "'" + text + "' is not a list of numbers",
                       "Give it as 0.5,0,-0.5,-1");
    }
    factors.push_back(factor);
    begin = end + 1;
  }
  return factors;
}

// Returns the prompt format. The public code adds no BOS to random text, and to examples only if a
// chat template writes it.
PromptFormat ReadFormat(const OptionSet& options) {
  PromptFormat format = ReadPromptFormat(options);
  const bool is_code = options.Text("variant") == "code";
  if (is_code && !options.IsSet("bos")) format.bos = BosRule::kTemplate;
  return format;
}

std::string ValidationKind(const OptionSet& options) {
  const bool without = options.Text("ranking") == NameOf(SearchRanking::kNoValidation).name;
  if (without) return "none";
  return options.IsSet("validate") ? options.Text("validate") : ReadPreset(options).validate;
}

void CheckChannelOptions(const OptionSet& options) {
  ReadFactors(options, false);
  ReadFormat(options);
  const bool validates = options.IsSet("validate") && options.Text("validate") != "none";
  if (validates && ValidationKind(options) == "none") {
    throw UsageError("option --validate", "--ranking no-validation leaves the validation out",
                     "Leave --validate away, or give another --ranking");
  }
  if (ValidationKind(options) != "none") return;
  for (const Parameter& option : ValidationOptions()) {
    if (option.name == "validate" || !options.IsSet(option.name)) continue;
    throw UsageError("option --" + option.name, "it has no effect without a validation",
                     "Leave it out, or validate on list or kv");
  }
}

LayerSet MiddleLayers(int64_t model_layers) {
  const int64_t first = (model_layers + 3) / 4;
  const int64_t last = std::max(first, model_layers * 5 / 6);
  return {false, {{std::min(first, model_layers - 1), std::min(last, model_layers - 1)}}};
}

std::optional<LayerSet> PublishedLayers(int64_t model_layers) {
  struct Published {
    int64_t layers, first, last;
  };
  static constexpr Published kTable5[] = {{28, 10, 22}, {32, 10, 25}, {40, 10, 34}, {48, 10, 42}};
  for (const Published& row : kTable5) {
    if (row.layers == model_layers) return LayerSet{false, {{row.first, row.last}}};
  }
  return std::nullopt;
}

}  // namespace midscope
