// SPDX-License-Identifier: MIT
#include "probes/measure/channels/channels_run.h"

#include <optional>
#include <string>
#include <utility>

#include "core/terms/intervention_text.h"
#include "probes/measure/channels/channel_layers.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_search.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

// Makes validation examples differ from the samples of a sweep with the same seed.
constexpr int64_t kValidationSeedOffset = 1'000'000;

int64_t IntegerOr(const OptionSet& options, const std::string& name, int64_t otherwise) {
  return options.IsSet(name) ? options.Integer(name) : otherwise;
}

// Reads layers such as "8-25" with the grammar of interventions.
LayerSet ReadLayers(const OptionSet& options, bool is_code, int64_t model_layers) {
  if (options.IsSet("layers")) {
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    return ParseIntervention(text).Find<ChannelScaling>()->layers;
  }
  if (is_code && model_layers > 25) return {false, {{10, 25}}};
  if (options.Text("preset") == "paper") {
    if (const auto published = PublishedLayers(model_layers)) return *published;
  }
  return MiddleLayers(model_layers);
}

// Whether random text, which never has a chat template, begins with BOS.
bool ReadSearchBos(const Tokenizer& tokenizer, BosRule rule) {
  return rule == BosRule::kOn || (rule == BosRule::kAuto && tokenizer.add_bos());
}

// Returns the loss of the variant, changed by the given options.
ValidationLoss ReadLoss(const OptionSet& options, bool is_code) {
  ValidationLoss loss = is_code ? kCodeLoss : ValidationLoss();
  if (options.IsSet("loss")) loss.per_token = options.Text("loss") == "mean";
  if (options.IsSet("example-places")) loss.one_place = options.Text("example-places") == "one";
  return loss;
}

std::optional<ValidationRequest> ReadValidation(const OptionSet& options, const Decoder& decoder) {
  const ChannelPreset preset = ReadPreset(options);
  const bool is_code = options.Text("variant") == "code";
  const std::string kind = ValidationKind(options);
  if (kind == "none") return std::nullopt;
  constexpr const char* kList = "list:lines=20";
  // By default, uses another task if the answers of the list task are not single tokens.
  const bool is_list =
      kind == "list" && (options.IsSet("validate") || FitsTokenizer(decoder.tokenizer(), kList));
  ValidationRequest request;
  request.plan.seed = static_cast<uint64_t>(options.Integer("seed") + kValidationSeedOffset);
  const auto task = MakeTaskFor(decoder.tokenizer(), is_list ? kList : "kv:pairs=" + preset.pairs,
                                request.plan.seed);
  request.plan.task = task->name();
  request.plan.examples =
      IntegerOr(options, "examples", is_list ? preset.list_examples : preset.key_value_examples);
  const bool preset_places = !is_list && !options.IsSet("places");
  request.plan.places =
      ReadPlaces(preset_places ? preset.key_value_places : options.Text("places"), *task);
  request.plan.format = ReadFormat(options);
  request.plan.loss = ReadLoss(options, is_code);
  request.plan.layers = ReadLayers(options, is_code, decoder.config().layers);
  request.factors = ReadFactors(options, is_code);
  request.control = options.Flag("control");
  return request;
}

}  // namespace

FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder) {
  FindChannelsRun run;
  const bool is_code = options.Text("variant") == "code";
  run.search =
      OptionsOf(is_code ? SearchVariant::kCode : SearchVariant::kPaper, decoder->config().layers);
  run.search.ranking = FindRanking(options.Text("ranking")).ranking;
  run.search.threshold = IntegerOr(options, "threshold", run.search.threshold);
  run.search.trend_skip = IntegerOr(options, "trend-skip", run.search.trend_skip);
  run.search.smoothness_skip = IntegerOr(options, "smoothness-skip", run.search.smoothness_skip);
  run.search.smoothing_window = IntegerOr(options, "smoothing", run.search.smoothing_window);
  run.search.states.seed = static_cast<uint64_t>(options.Integer("seed"));
  run.search.states.prompts = IntegerOr(options, "prompts", ReadPreset(options).prompts);
  run.search.states.tokens = options.Integer("tokens");
  const PromptFormat format = ReadFormat(options);
  CheckPromptFormat(decoder->tokenizer(), format);
  run.search.states.bos = ReadSearchBos(decoder->tokenizer(), format.bos);
  run.top = options.Integer("top");
  run.validation = ReadValidation(options, *decoder);
  run.decoder = std::move(decoder);
  return run;
}

}  // namespace midscope
