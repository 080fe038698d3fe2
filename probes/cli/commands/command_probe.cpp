// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/run/patch_sources.h"
#include "core/terms/intervention_text.h"
#include "data/store/run_store.h"
#include "probes/cli/commands/probe_batch_command.h"
#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/help.h"
#include "probes/cli/text/probe_text.h"
#include "probes/engine/run_probe.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

void Save(const CommandInput& input, const Decoder& decoder, const std::vector<Record>& records) {
  const OptionSet& options = input.options;
  if (options.Text("out").empty()) return;
  WriteRecords(
      options.Text("out"), records,
      MakeProvenance(decoder, input.command_line, options.Integer("seed"), options.ToJson()),
      {.overwrite = options.Flag("overwrite"), .plan_json = {}});
}

// Runs the probes on a single prompt.
void RunPrompt(const CommandInput& input, const ProbeRegistry& probes) {
  const OptionSet& options = input.options;
  for (const char* name : {"resume", "dry-run"}) {
    if (!options.Flag(name)) continue;
    throw UsageError("option --" + std::string(name), "a single prompt is run",
                     "Give --samples or --places with --task, or --plan");
  }
  const PromptFormat format = ReadPromptFormat(options);
  const Intervention intervention = ParseIntervention(OneSetting(options, "probe"));
  CheckOutOption(options);
  const auto decoder = OpenDecoder(options.Text("model"), ReadDecoderOptions(options), input.job);
  const Tokenizer& tokenizer = decoder->tokenizer();
  const auto [prompt, place] = ReadPrompt(options, format, tokenizer, input.job);
  PatchSources sources(*decoder, ReadSourcePrompts(options, format, tokenizer));
  if (!options.Flag("json")) input.job.Log(SentLine(prompt, tokenizer, format));
  if (!options.IsSet("task")) LogPromptNotes(prompt, format, input.job);
  std::vector<Record> records = RunProbes(
      *decoder, prompt, sources.Give(intervention, prompt, input.job), probes, options, input.job);
  // The prompt's record is written last, because viewers open a file's first record.
  records.push_back(PromptRecord(prompt, tokenizer, place));
  NoteFormat(prompt, tokenizer, format, records.back());
  records.back().attributes["intervention"] = PrintIntervention(intervention);
  Save(input, *decoder, records);
  input.out << (options.Flag("json") ? ProbeJson(tokenizer, prompt, records, options, probes)
                                     : FittedLines(ProbeText(prompt, records, options, probes)));
}

void RunProbe(const ProbeRegistry& probes, const CommandInput& input) {
  const OptionSet& options = input.options;
  if (options.Flag("list")) {
    input.out << (options.Flag("json") ? ProbeListJson(probes) : ProbeHelp(probes));
    return;
  }
  const std::vector<ProbeCell> cells = ProbeCells(options);
  for (const ProbeCell& cell : cells) {
    CheckTextSource(cell.options);
    const bool batch = RequestsBatch(cell.options);
    // Reports unknown probe names before a model is loaded.
    probes.RefuseUnusedOptions(cell.options, probes.Selected(cell.options, batch));
    ReadPromptFormat(cell.options);
    CheckSourcesUsed(cell.options, {ParseIntervention(OneSetting(cell.options, "probe"))});
  }
  if (RequestsBatch(cells.front().options)) {
    RunProbeCells(input, probes, cells);
  } else {
    RunPrompt(input, probes);
  }
}

std::vector<Parameter> ProbeOptions(const ProbeRegistry& probes) {
  std::vector<Parameter> options = ModelOptions();
  options.front().required = false;  // a plan file may set the model
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add(PromptOptions());
  add(SourcePromptOptions());
  add(BatchOptions());
  add(ProbePlanOptions());
  add(InGroup("Setting", {WithOption("what to change, one setting"), BeyondContextOption()}));
  add(InGroup("Output",
              {OutOption("the HDF5 file to write"),
               FlagParameter("overwrite", "replace the file where it exists"), JsonOption()}));
  add(InGroup("Probes", {FlagParameter("list", "describe each probe, and do nothing else")}));
  add(InGroup("Probes", probes.Options()));
  return options;
}

}  // namespace

Command ProbeCommand() {
  const ProbeRegistry probes = BuiltInProbes();
  Command command;
  command.name = "probe";
  command.summary = "one prompt through the model, with all probes";
  command.description =
      "Runs one prompt once and stores what the probes read: last-query attention, "
      "position-awareness\n"
      "scores, position ratios, logits, and hidden channels or residual rows where requested.\n"
      "--probes names others. With --places or --samples a task's prompts run one after another;\n"
      "each is stored at once, Ctrl-C leaves a file that opens, and --resume continues it. --plan\n"
      "takes several models, tasks, sizes, seeds and settings, each in a file of the folder "
      "--out.\n"
      "\n"
      "Probes (--list describes each):\n" +
      ProbeSummaries(probes);
  command.informs = "list";
  command.positionals = {"model"};
  command.options = ProbeOptions(probes);
  command.options = WithBrief(std::move(command.options),
                              {"model", "prompt", "prompt-file", "span", "answer", "task", "places",
                               "samples", "with", "probes", "channels", "out", "list"});
  command.examples =
      "  midscope probe embedded --prompt 'The capital of France is' --out france.h5\n"
      "  midscope probe embedded --prompt-file notes.txt --span 'gold=the key is 42' \\\n"
      "      --answer ' 42' --with 'channel(100, factor=-1, layers=8-25)' --out notes.h5\n"
      "  midscope probe embedded --task list:lines=20 --place 10 --channels 100,215 --out "
      "list.h5\n"
      "  midscope probe embedded --task list:lines=20 --places 1,10,20 --samples 3 \\\n"
      "      --probes span_attention,logit_lens --out places.h5\n"
      "  midscope probe --plan probes.toml --out runs --resume\n"
      "  midscope probe embedded --prompt-file book.txt --probes perplexity --window 2048";
  command.is_shared = [](const OptionSet& options) {
    return !options.Flag("list") && !options.Flag("dry-run") &&
           RequestsBatch(ProbeCells(options).front().options);
  };
  command.run = [probes](const CommandInput& input) { RunProbe(probes, input); };
  return command;
}

}  // namespace midscope::cli
