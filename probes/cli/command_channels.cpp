// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/intervention/intervention_text.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"
#include "probes/base/number_list.h"
#include "probes/channels/find_channels.h"
#include "probes/cli/channels_table.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/progress_line.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/prompt/prompt_format_options.h"

namespace midscope::cli {
namespace {

// Validation examples are not those of a sweep with the same seed.
constexpr int64_t kValidationSeedOffset = 1'000'000;

// The defaults of a preset; options on the command line override them.
struct Preset {
  int64_t prompts = 24;
  std::string validate = "list";
  std::string pairs = "10";
  std::string key_value_places;  // "": the task's own
  int64_t list_examples = 100;
  int64_t key_value_examples = 40;
};

// The published sizes: 200 chunks of text (the public code's default), 100 examples of 50 pairs
// with the gold pair before 12, 24 or 36 others.
Preset ReadPreset(const OptionSet& options) {
  if (options.Text("preset") == "quick") return {};
  return {200, "kv", "50", "13,25,37", 100, 100};
}

int64_t IntegerOr(const OptionSet& options, const std::string& name, int64_t otherwise) {
  return options.IsSet(name) ? options.Integer(name) : otherwise;
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
      throw UsageError("option --factors", "'" + text + "' is no list of numbers",
                       "Give it as 0.5,0,-0.5,-1");
    }
    factors.push_back(factor);
    begin = end + 1;
  }
  return factors;
}

// "8-25", parsed by the grammar of interventions.
LayerSet ReadLayers(const OptionSet& options, bool is_code, int64_t model_layers) {
  if (options.IsSet("layers")) {
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    return ParseIntervention(text).channels.front().layers;
  }
  if (is_code && model_layers > 25) return {false, {{10, 25}}};
  if (options.Text("preset") == "paper") {
    if (const auto published = PublishedLayers(model_layers)) return *published;
  }
  return MiddleLayers(model_layers);
}

// The public code adds no BOS to random text, and to examples only what a chat template writes.
PromptFormat ReadFormat(const OptionSet& options) {
  PromptFormat format = ReadPromptFormat(options);
  const bool is_code = options.Text("variant") == "code";
  if (is_code && !options.IsSet("bos")) format.bos = BosRule::kTemplate;
  return format;
}

// Whether random text begins with BOS; it never has a chat template.
bool ReadSearchBos(const Tokenizer& tokenizer, BosRule rule) {
  return rule == BosRule::kOn || (rule == BosRule::kAuto && tokenizer.add_bos());
}

// The layers of --preset paper, which the option describes as published.
std::string LayersText(const ValidationPlan& plan, int64_t model_layers) {
  const auto published = PublishedLayers(model_layers);
  const bool from_table = published && published->Text() == plan.layers.Text();
  return fmt::format("layers {} of {}: {}", plan.layers.Text(), model_layers,
                     from_table ? "the paper's Table 5"
                                : "Table 5 has no model of so many layers; a quarter to five "
                                  "sixths, near its rows");
}

// The variant's, but for what is given.
ValidationLoss ReadLoss(const OptionSet& options, bool is_code) {
  ValidationLoss loss = is_code ? kCodeLoss : ValidationLoss();
  if (options.IsSet("loss")) loss.per_token = options.Text("loss") == "mean";
  if (options.IsSet("example-places")) loss.one_place = options.Text("example-places") == "one";
  return loss;
}

// The ablation without a validation set has none.
std::string ValidationKind(const OptionSet& options) {
  const bool without = options.Text("ranking") == NameOf(SearchRanking::kNoValidation).name;
  if (without) return "none";
  return options.IsSet("validate") ? options.Text("validate") : ReadPreset(options).validate;
}

std::optional<ValidationRequest> ReadValidation(const OptionSet& options, const Decoder& decoder) {
  const Preset preset = ReadPreset(options);
  const bool is_code = options.Text("variant") == "code";
  const std::string kind = ValidationKind(options);
  if (kind == "none") return std::nullopt;
  const bool is_list = kind == "list";
  ValidationRequest request;
  request.plan.seed = static_cast<uint64_t>(options.Integer("seed") + kValidationSeedOffset);
  const auto task =
      MakeTaskFor(decoder.tokenizer(), is_list ? "list:lines=20" : "kv:pairs=" + preset.pairs,
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

FindChannelsRun ReadRun(const OptionSet& options, std::shared_ptr<const Decoder> decoder) {
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
  run.out = options.Text("out");
  run.resume = options.Flag("resume");
  run.decoder = std::move(decoder);
  return run;
}

// Checks before a model is loaded.
void CheckEarly(const OptionSet& options) {
  ReadFactors(options, false);
  ReadFormat(options);
  const bool validates = options.IsSet("validate") && options.Text("validate") != "none";
  if (validates && ValidationKind(options) == "none") {
    throw UsageError("option --validate", "--ranking no-validation leaves the validation out",
                     "Leave --validate away, or give another --ranking");
  }
  const std::string& file = options.Text("out");
  if (file.empty() && options.Flag("resume")) {
    throw UsageError("option --resume", "there is no file to resume", "Give --out FILE.h5");
  }
  CheckOverwrite(options);
  if (!file.empty()) {
    const bool may_exist = options.Flag("resume") || options.Flag("overwrite");
    CheckOutputPath(file, may_exist, "Give --resume to go on, --overwrite, or another --out");
    CheckUnfinishedFiles(file, may_exist);
  }
}

// Whether the run is long enough to measure an estimate first.
bool IsLong(const FindChannelsRun& run) {
  constexpr int64_t kManyTokens = 10000;
  return run.search.states.prompts * run.search.states.tokens > kManyTokens;
}

// The results that a finished search wrote. Throws Error (failure) where the file has another plan.
std::vector<Record> ReadFinished(const std::string& file, const std::string& plan_json) {
  RunFile finished = ReadRecords(file);
  if (finished.plan_json != plan_json) {
    throw Failure(
        file,
        "holds a search of another plan: " + FirstPlanDifference(finished.plan_json, plan_json),
        "Resume with that plan, or write to another file");
  }
  return std::move(finished.records);
}

std::vector<Record> FindOrExplain(const FindChannelsRun& run, const JobContext& job) {
  try {
    return FindChannels(run, job);
  } catch (const Cancelled&) {
    if (run.out.empty()) throw;
    throw Interrupted(
        fmt::format("search interrupted: what was done is beside {}. The same "
                    "command with --resume continues",
                    run.out));
  }
}

void RunChannels(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckEarly(options);
  FindChannelsRun run = ReadRun(
      options, Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job));
  CheckSearchOptions(run.search, run.decoder->config());
  const std::string plan_json = FindChannelsPlanJson(run);
  std::vector<Record> records;
  const bool overwrite = options.Flag("overwrite");
  if (overwrite)
    RemoveUnfinishedFiles(run.out);  // the file itself is kept until the new one is complete
  if (!run.out.empty() && std::filesystem::exists(run.out) && !overwrite) {
    records = ReadFinished(run.out, plan_json);
  } else {
    if (options.Text("preset") == "paper" && run.validation && !options.IsSet("layers") &&
        options.Text("variant") != "code") {
      input.job.Log(LayersText(run.validation->plan, run.decoder->config().layers));
    }
    if (IsLong(run)) {
      input.job.Log("estimate: about " + TimeText(EstimateSeconds(run, input.job)));
    }
    // Printed before the validation, in case that is interrupted.
    run.on_search = [&](const Record& search) {
      input.job.Log("ranking, before validation:\n" +
                    ChannelsText({search}, static_cast<size_t>(run.top)));
    };
    records = FindOrExplain(run, input.job);
    if (!run.out.empty()) {
      WriteOptions write;
      write.plan_json = plan_json;
      write.overwrite = overwrite;
      WriteRecords(run.out, records,
                   MakeProvenance(*run.decoder, input.command_line, options.Integer("seed"),
                                  options.ToJson()),
                   write);
      RemoveUnfinishedFiles(run.out);
    }
  }
  input.out << (options.Flag("json")
                    ? ChannelsJson(records, run.out)
                    : ChannelsText(records, static_cast<size_t>(run.top)) + FileNote(run.out));
}

std::vector<std::string> RankingNames() {
  std::vector<std::string> names;
  for (const RankingName& one : kRankings) names.emplace_back(one.name);
  return names;
}

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
      WholeNumberParameter("prompts", "prompts of random text whose hidden states are averaged", 1,
                           100000, 24),
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
                   "default: first, quarter, middle, three quarters, last (kv with --preset "
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

Command ChannelsCommand() {
  Command command;
  command.name = "channels";
  command.summary = "finds hidden channels that carry position, and what scaling them does";
  command.description =
      "Averages hidden states over prompts of random text, finds the channels whose cubic fit "
      "rises\n"
      "or falls with position in more than a quarter of the layers, orders them by smoothness, "
      "and\n"
      "tries the first ones on examples with a known answer: the channel and factor with the "
      "least\n"
      "teacher-forced loss come out as a setting for --with (arXiv 2406.02536). With --out, "
      "Ctrl-C\n"
      "leaves files beside it from which --resume goes on.";
  command.positionals = {"model"};
  command.options = ModelOptions();
  for (const auto& more : {InGroup("Search", SearchOptions()),
                           InGroup("Validation", ValidationOptions()), PromptFormatOptions()}) {
    command.options.insert(command.options.end(), more.begin(), more.end());
  }
  const std::vector<Parameter> last = InGroup(
      "Output", {OutOption("the HDF5 file to write: ranking, curves, losses"),
                 FlagParameter("resume", "go on where an interrupted search stopped"),
                 FlagParameter("overwrite", "replace the file where it exists"), JsonOption()});
  command.options.insert(command.options.end(), last.begin(), last.end());
  command.examples =
      "  midscope channels embedded\n"
      "  midscope channels embedded --validate none --json\n"
      "  midscope channels model.gguf --validate kv --factors 0,-1 --layers 10-25 --control \\\n"
      "      --out channels.h5";
  command.run = RunChannels;
  return command;
}

}  // namespace midscope::cli
