// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/model_source.h"
#include "core/model/model_text.h"
#include "core/terms/intervention_text.h"
#include "core/tuning/activation_gradients.h"
#include "data/store/run_store.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/cli/commands/influence_scan.h"
#include "probes/cli/commands/influence_text.h"
#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/influence/influence_names.h"
#include "probes/measure/influence/influence_records.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

// Returns the prompts: samples of a task at places (`scanned`, or those of the options if `scanned`
// is empty), or a single prompt.
ProbeBatch InfluencePrompts(const OptionSet& options, const RunnableModel& model,
                            const Intervention& setting, const std::vector<int64_t>& scanned,
                            const JobContext& job) {
  const PromptFormat format = ReadPromptFormat(options);
  ProbeBatch batch;
  if (RequestsBatch(options)) {
    batch = ReadBatch(options, format, *model.tokenizer);
    if (!scanned.empty()) batch.samples = scanned;
  } else {
    PlacedPrompt one = ReadPrompt(options, format, *model.tokenizer, job);
    if (!options.IsSet("task")) LogPromptNotes(one.prompt, format, job);
    batch.samples = {options.Integer("sample")};
    batch.places = {one.place};
    batch.prompt = [prompt = std::move(one.prompt)](int64_t, int64_t) { return prompt; };
  }
  ModelConfig config = model.config;
  config.beyond_context = options.Flag("beyond-context");
  for (const int64_t sample : batch.samples) {
    for (const int64_t place : batch.places) {
      const Prompt prompt = batch.prompt(sample, place);
      CheckPromptFits(config, prompt, setting);
      if (!prompt.answer_ids.empty() || options.Integer("cotangents") > 0) continue;
      throw UsageError("prompt", "it has no answer whose gradient could be computed",
                       "Give --answer, or --cotangents for the gradient of the output as a whole");
    }
  }
  return batch;
}

// Returns one record influence per prompt, row-major over samples and places. `source`: for
// patches.
std::vector<Record> InfluenceRecords(const GradientPass& pass, const ProbeBatch& batch,
                                     const std::optional<PatchSource>& source,
                                     const OptionSet& options, const JobContext& job) {
  std::vector<Record> records;
  // Each prompt has a forward pass, one backward pass for the answer, and one per cotangent.
  const int64_t total =
      std::ssize(batch.samples) * std::ssize(batch.places) * (2 + options.Integer("cotangents"));
  Progress progress{"influence", 0, total, "passes"};
  for (const int64_t sample : batch.samples) {
    for (const int64_t place : batch.places) {
      job.ThrowIfCancelled();
      job.Report(progress);
      const Prompt prompt = batch.prompt(sample, place);
      GradientRequest request{.ids = prompt.ids,
                              .prompt_tokens = std::ssize(prompt.ids),
                              .cotangents = options.Integer("cotangents"),
                              .seed = static_cast<uint64_t>(options.Integer("cotangent-seed"))};
      request.on_pass = [&] {
        ++progress.done;
        job.Report(progress);
      };
      request.ids.insert(request.ids.end(), prompt.answer_ids.begin(), prompt.answer_ids.end());
      if (source) {
        const bool is_next = source->kind == PatchSource::Kind::kNext;
        request.source_ids = batch.prompt(sample + (is_next ? 1 : 0), source->place).ids;
      }
      records.push_back(InfluenceRecord(prompt, pass.Run(request), options.Integer("parts")));
    }
  }
  return records;
}

void WriteInfluence(const CommandInput& input, const OptionSet& options, const RunnableModel& model,
                    const GradientPass& pass, const std::vector<Record>& records) {
  if (options.Text("out").empty()) return;
  WriteRecords(
      options.Text("out"), records,
      MakeProvenance(*model.source, ParseDtype(options.Text("dtype")), ReadOneDevice(options),
                     pass.threads(), input.command_line, options.Integer("seed"), options.ToJson()),
      {.overwrite = options.Flag("overwrite"), .plan_json = {}});
}

void RunInfluence(const CommandInput& input) {
  CheckOutOption(input.options);
  (void)ReadOneDevice(input.options);
  if (!input.options.IsSet("scan")) {
    CheckTextSource(input.options);
    (void)RequestsBatch(input.options);
    (void)ParseIntervention(OneSetting(input.options, "influence"));
  }
  const RunnableModel model = OpenRunnableModel(input.options.Text("model"));
  for (const std::string& note : model.config.notes) input.job.Warn("model: " + note);
  std::optional<HeadScan> scan;
  if (input.options.IsSet("scan")) scan = ReadHeadScan(input.options, *model.source);
  const OptionSet& options = scan ? scan->options : input.options;
  const Intervention setting = ParseIntervention(OneSetting(options, "influence"));
  const ProbeBatch batch = InfluencePrompts(
      options, model, setting, scan ? scan->samples : std::vector<int64_t>(), input.job);
  LoadTensorLibrary();
  const GradientPass pass(*model.source,
                          {.setting = setting,
                           .dtype = ParseDtype(options.Text("dtype")),
                           .threads = options.Has("threads") ? options.Integer("threads") : 0,
                           .device = ReadOneDevice(options)},
                          input.job);
  const std::vector<Record> records =
      InfluenceRecords(pass, batch, scan ? scan->source : std::nullopt, options, input.job);

  std::vector<Axis> leading = {ValuedAxis("sample", batch.samples),
                               ValuedAxis("place", batch.places)};
  leading.back().unit = "rank";
  const Record stacked = StackRecords(records, leading);
  const Record by_place = InfluenceByPlace(stacked);
  const std::optional<HeadEstimates> heads = EstimatesOf(by_place, scan);
  std::vector<Record> written = {by_place, stacked};
  if (records.size() == 1) {
    const int64_t place = batch.places.front();
    written.push_back(
        PromptRecord(batch.prompt(batch.samples.front(), place), *model.tokenizer, place));
  }
  for (Record& record : written) {
    record.attributes["intervention"] = PrintIntervention(setting);
    record.attributes[kInfluenceModel] = ShortModelText(options.Text("model"));
  }
  WriteInfluence(input, options, model, pass, written);

  const std::string& out = options.Text("out");
  if (options.Flag("json")) {
    nlohmann::ordered_json json = InfluenceJson(by_place);
    json["heads"] = heads ? HeadEstimatesJson(by_place, *heads) : nlohmann::ordered_json();
    json["file"] = out.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(out);
    input.out << JsonText(json);
    return;
  }
  Printout text = InfluenceText(by_place);
  if (heads) text += HeadEstimatesText(by_place, *heads);
  input.out << FittedLines(text.Text()) << FileNote(out);
}

std::vector<Parameter> InfluenceOptions() {
  std::vector<Parameter> options = ModelNameOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add({ChoiceParameter("dtype", "dtype of the computation", {"float32", "bfloat16"}),
       WholeNumberParameter("threads", "CPU threads; by default one per core", 1, kNoMaximum),
       OneDeviceOption()});
  add(PromptOptions());
  add(BatchOptions());
  add(InGroup("Setting", {WithOption("the position scheme, one that treats all heads and rows "
                                     "alike, such as pi(2)"),
                          BeyondContextOption()}));
  add(GradientOptions());
  add(InGroup(
      "Gradients",
      {FileParameter("scan",
                     "a file of midscope scan over heads: run on its samples, and compare "
                     "the first-order estimate of each head's effect with the exact one")}));
  add(InGroup("Output",
              {OutOption("the HDF5 file to write"),
               FlagParameter("overwrite", "replace the file where it exists"), JsonOption()}));
  return options;
}

}  // namespace

Command InfluenceCommand() {
  Command command;
  command.name = "influence";
  command.summary = "how much the answer changes with each token: gradients by place and layer";
  command.description =
      "Computes the gradient of the answer's log likelihood with respect to the embedding of each\n"
      "token and to the residual stream before each layer, and prints its norm on the gold piece,\n"
      "on distractors and on the question by place of the gold piece, and along the prompt.\n"
      "--cotangents adds the Jacobian of the last token's logits as a whole, beside the closed\n"
      "form for even attention (arXiv 2603.10123). MODEL@init (random weights) asks what is there\n"
      "at birth. The same backward pass gives a first-order estimate of what ablating each head\n"
      "does; --scan compares it with the exact effects in a scan's file.";
  command.positionals = {"model"};
  command.options = WithBrief(InfluenceOptions(),
                              {"model", "prompt", "prompt-file", "span", "answer", "task", "places",
                               "samples", "with", "cotangents", "scan", "out", "json"});
  command.examples =
      "  midscope influence embedded --task list:lines=20 --places 1,10,20 --samples 4\n"
      "  midscope influence embedded@init --task list:lines=20 --cotangents 4\n"
      "  midscope scan embedded --samples 4 --out scan.h5 && midscope influence embedded --scan "
      "scan.h5\n"
      "  midscope influence embedded --prompt 'The key is 42. The key is' --answer ' 42' \\\n"
      "      --span 'gold=The key is 42.' --out key.h5";
  command.run = RunInfluence;
  return command;
}

}  // namespace midscope::cli
