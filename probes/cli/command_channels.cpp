// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/intervention_text.h"
#include "core/number_text.h"
#include "data/record_reader.h"
#include "data/run_store.h"
#include "probes/cli/channels_table.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/progress_line.h"
#include "probes/find_channels.h"
#include "probes/model_options.h"
#include "probes/number_list.h"
#include "probes/prompt_format_options.h"
#include "probes/provenance.h"

namespace midscope::cli {
namespace {

// Validation examples are not those of a sweep with the same seed.
constexpr int64_t kValidationSeedOffset = 1'000'000;

// What a preset stands for; options that are given stand over it.
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

// "8-25", read by the interventions' own grammar.
LayerSet ReadLayers(const OptionSet& options, bool is_code, int64_t model_layers) {
  if (options.IsSet("layers")) {
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    return ParseIntervention(text).channels.front().layers;
  }
  if (is_code && model_layers > 25) return {false, {{10, 25}}};
  return MiddleLayers(model_layers);
}

// The public code puts no BOS before random text, and before examples only what a chat template
// writes.
PromptFormat ReadFormat(const OptionSet& options) {
  PromptFormat format = ReadPromptFormat(options);
  const bool is_code = options.Text("variant") == "code";
  if (is_code && !options.IsSet("bos")) format.bos = BosRule::kTemplate;
  return format;
}

// Whether random text begins with BOS: no chat template is about it.
bool ReadSearchBos(const Tokenizer& tokenizer, BosRule rule) {
  return rule == BosRule::kOn || (rule == BosRule::kAuto && tokenizer.add_bos());
}

std::optional<ValidationRequest> ReadValidation(const OptionSet& options, const Decoder& decoder) {
  const Preset preset = ReadPreset(options);
  const bool is_code = options.Text("variant") == "code";
  const std::string kind = options.IsSet("validate") ? options.Text("validate") : preset.validate;
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

// What can be told before a model is loaded.
void CheckEarly(const OptionSet& options) {
  ReadFactors(options, false);
  ReadFormat(options);
  const std::string& file = options.Text("out");
  if (file.empty() && options.Flag("resume")) {
    throw UsageError("option --resume", "there is no file to go on in", "Give --out FILE.h5");
  }
  if (!file.empty()) {
    CheckOutputPath(file, options.Flag("resume"), "Give --resume to go on, or another --out");
    CheckUnfinishedFiles(file, options.Flag("resume"));
  }
}

// What a finished search left in its file. Throws Error (failure) where that was of another plan.
std::vector<Record> ReadFinished(const std::string& file, const std::string& plan_json) {
  RunFile finished = ReadRecords(file);
  if (finished.plan_json != plan_json) {
    throw Failure(file, "holds a search of another plan: " + finished.plan_json,
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
                    "command with --resume goes on",
                    run.out));
  }
}

void RunChannels(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckEarly(options);
  const FindChannelsRun run = ReadRun(
      options, Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job));
  CheckSearchOptions(run.search, run.decoder->config());
  const std::string plan_json = FindChannelsPlanJson(run);
  std::vector<Record> records;
  if (!run.out.empty() && std::filesystem::exists(run.out)) {
    records = ReadFinished(run.out, plan_json);
  } else {
    if (options.Text("preset") == "paper") {
      input.job.Log("estimate: about " + TimeText(EstimateSeconds(run, input.job)));
    }
    records = FindOrExplain(run, input.job);
    if (!run.out.empty()) {
      WriteOptions write;
      write.plan_json = plan_json;
      WriteRecords(run.out, records,
                   MakeProvenance(*run.decoder, input.command_line, options.Integer("seed"),
                                  options.ToJson()),
                   write);
      RemoveUnfinishedFiles(run.out);
    }
  }
  input.out << (options.Flag("json")
                    ? ChannelsJson(records, run.out)
                    : ChannelsText(records, static_cast<size_t>(run.top), run.out));
}

std::vector<OptionDescription> SearchOptions() {
  return {
      IntegerOption("seed", "what random text, examples and bootstrap are drawn by", 0, kNoMaximum,
                    1),
      ChoiceOption("variant",
                   "paper: trends from position 100 on, smoothing window 11, factors 0.5, 0, -0.5 "
                   "and -1; code: as the public code, from position 300 on, window 10, factor 0",
                   {"paper", "code"}),
      ChoiceOption(
          "preset",
          "quick: 24 prompts, 100 examples of a list of 20 lines; paper: the published "
          "sizes, 200 prompts, 100 examples of 50 key-value pairs, with an estimate of the "
          "time first",
          {"quick", "paper"}),
      IntegerOption("prompts", "prompts of random text whose hidden states are averaged", 1, 100000,
                    24),
      IntegerOption("tokens", "length of each, in tokens", 1, 1000000, 1000),
      IntegerOption("top", "how many of the smoothest channels are shown and validated", 1, 1000,
                    10)};
}

std::vector<OptionDescription> ValidationOptions() {
  OptionDescription validate =
      ChoiceOption("validate",
                   "what candidates are tried on: list (20 lines), kv (10 pairs; 50 with --preset "
                   "paper) or none; by default what the preset says",
                   {"list", "kv", "none"});
  return {validate,
          IntegerOption("examples",
                        "how many examples, each at every place under every trial; without it 100 "
                        "(kv: 40, with --preset paper 100)",
                        1, 1000000, 100),
          PlacesOption("",
                       "default: first, quarter, middle, three quarters, last (kv with --preset "
                       "paper: 13,25,37)"),
          TextOption("factors", "what each candidate is multiplied by; default 0.5,0,-0.5,-1"),
          TextOption("layers",
                     "in which layers it is scaled, such as 8-25; default: from a quarter to five "
                     "sixths of the model"),
          FlagOption("control", "tries as many channels drawn by chance besides")};
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
  for (const auto& more : {SearchOptions(), ValidationOptions(), PromptFormatOptions()}) {
    command.options.insert(command.options.end(), more.begin(), more.end());
  }
  const std::vector<OptionDescription> last = {
      OutOption("the HDF5 file to write: ranking, curves, losses"),
      FlagOption("resume", "go on where an interrupted search stopped"), JsonOption()};
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
