// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/run/patch_sources.h"
#include "core/terms/intervention_text.h"
#include "data/store/run_store.h"
#include "probes/cli/commands/probe_batch_command.h"
#include "probes/cli/commands/probe_cells.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/help.h"
#include "probes/cli/text/probe_text.h"
#include "probes/engine/run_probe.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/plugin/plugin_loader.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

<<<<<<< HEAD
=======
// `midscope probe` over several prompts: runs the batches, prints them, writes their summary.

// Options for several prompts of a task.

using Json = nlohmann::ordered_json;

std::string NameOf(const ProbeCell& cell) {
  std::string name =
      fmt::format("model {}, task {}, seed {}", cell.cell.model, cell.cell.task, cell.cell.seed);
  if (!cell.setting.empty()) name += ", " + cell.setting;
  return name;
}

// The mean over samples of an array [sample, place] of the answers, [place]; of one that is the
// same for all prompts, which is an attribute. Empty where the prompts have no answer.
std::vector<double> AnswerMeans(const ProbeBatchReport& report, const std::string& name) {
  const Record* answer = FindRecord(report.records, kAnswerRecord);
  if (!answer) return {};
  const size_t places = report.places.size();
  std::vector<double> values(report.samples.size() * places);
  const Array* array = answer->FindArray(name);
  if (array && std::holds_alternative<std::vector<double>>(array->data)) {
    values = std::get<std::vector<double>>(array->data);
  } else if (array) {
    const auto& counts = std::get<std::vector<int64_t>>(array->data);
    std::copy(counts.begin(), counts.end(), values.begin());
  } else {
    const Attribute& same = answer->attributes.at(name);
    const bool is_count = std::holds_alternative<int64_t>(same);
    std::fill(values.begin(), values.end(),
              is_count ? static_cast<double>(std::get<int64_t>(same)) : std::get<double>(same));
  }
  std::vector<double> means(places);
  for (size_t i = 0; i < values.size(); ++i)
    means[i % places] += values[i] / static_cast<double>(report.samples.size());
  return means;
}

Json RecordList(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) {
    Json arrays = Json::object();
    for (const Array& array : record.arrays) arrays[array.name] = array.axes;
    list.push_back({{"name", record.name}, {"arrays", arrays}});
  }
  return list;
}

// Entry of summary.json for a batch. The records themselves are in its file.
Json ReportJson(const ProbeBatchReport& report) {
  const std::string& file = report.cell.options.Text("out");
  Json json = {{"model", report.cell.cell.model},
               {"task", report.cell.cell.task},
               {"seed", report.cell.cell.seed},
               {"setting", report.cell.setting},
               {"file", file.empty() ? Json(nullptr) : Json(file)},
               {"samples", report.samples},
               {"places", report.places}};
  const std::vector<double> nll = AnswerMeans(report, kAnswerNll);
  if (!nll.empty()) {
    json[kAnswerNll] = nll;
    json["accuracy"] = AnswerMeans(report, "correct");
  }
  json["records"] = RecordList(report.records);
  return json;
}

std::string NumbersText(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers)
    text += fmt::format("{}{:.2f}", text.empty() ? "" : " ", number);
  return text.empty() ? "-" : text;
}

std::string ReportsText(const std::vector<ProbeBatchReport>& reports) {
  TextTable table({"model", "task", "seed", "setting", "samples", "answer_nll by place", "file"});
  for (const ProbeBatchReport& report : reports) {
    const std::string& file = report.cell.options.Text("out");
    table.Add({report.cell.cell.model, report.cell.cell.task, std::to_string(report.cell.cell.seed),
               report.cell.setting, std::to_string(report.samples.size()),
               NumbersText(AnswerMeans(report, kAnswerNll)), file.empty() ? "-" : file});
  }
  return table.Text();
}

// The numbers of several batches.
Json SummaryJson(const std::vector<ProbeBatchReport>& reports) {
  Json batches = Json::array();
  for (const ProbeBatchReport& report : reports) batches.push_back(ReportJson(report));
  return {{"batches", std::move(batches)}};
}

void PrintOne(const CommandInput& input, const ProbeRegistry& probes,
              const ProbeBatchReport& report) {
  const OptionSet& options = report.cell.options;
  if (!options.Flag("json")) {
    input.out << RecordsText(report.records, options, probes);
    return;
  }
  const std::string& file = options.Text("out");
  input.out << JsonText({{"file", file.empty() ? Json(nullptr) : Json(file)},
                         {"records", RecordsJson(report.records, options, probes)}});
}

void PrintCosts(const CommandInput& input, const ProbeRegistry& probes,
                const std::vector<ProbeCell>& cells, RankGroup& ranks) {
  ProbeBatchRun run(input, probes, input.job, ranks);
  TextTable table({"model", "task", "seed", "setting", "prompts", "tokens", "time", "file"});
  Json list = Json::array();
  ProbeBatchRun::Cost all;
  for (const ProbeCell& cell : cells) {
    const ProbeBatchRun::Cost cost = run.Estimate(cell);
    all.prompts += cost.prompts;
    all.tokens += cost.tokens;
    all.seconds += cost.seconds;
    const std::string& file = cell.options.Text("out");
    table.Add({cell.cell.model, cell.cell.task, std::to_string(cell.cell.seed), cell.setting,
               std::to_string(cost.prompts), std::to_string(cost.tokens), TimeText(cost.seconds),
               file.empty() ? "-" : file});
    list.push_back({{"model", cell.cell.model},
                    {"task", cell.cell.task},
                    {"seed", cell.cell.seed},
                    {"setting", cell.setting},
                    {"prompts", cost.prompts},
                    {"tokens", cost.tokens},
                    {"seconds", cost.seconds}});
  }
  if (cells.front().options.Flag("json")) {
    input.out << JsonText({{"batches", list},
                           {"prompts", all.prompts},
                           {"tokens", all.tokens},
                           {"seconds", all.seconds}});
    return;
  }
  input.out << table.Text()
            << fmt::format("in all {} prompts of {} tokens: {}, from one prompt of each\n",
                           all.prompts, all.tokens, TimeText(all.seconds));
}

void RunSeveral(const CommandInput& input, const std::vector<ProbeCell>& cells, ProbeBatchRun& run,
                RankGroup& ranks) {
  std::vector<ProbeBatchReport> reports;
  std::string first_failure;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string name = NameOf(cells[i]);
    if (ranks.rank() == 0)
      input.job.Log(fmt::format("batch {} of {}: {}", i + 1, cells.size(), name));
    try {
      reports.push_back(run.Run(cells[i], [](const ProbeBatchReport&) {}));
      // The file has the numbers; the summary needs their names.
      for (Record& record : reports.back().records) {
        if (record.name == kAnswerRecord) continue;
        for (Array& array : record.arrays) array.data = {};
      }
    } catch (const Error& error) {
      NoteFailedCell(name, error, ranks, input.job, first_failure);
    }
  }
  if (ranks.rank() != 0) return;
  const Json summary = SummaryJson(reports);
  input.out << (cells.front().options.Flag("json") ? JsonText(summary) : ReportsText(reports));
  const std::filesystem::path file = cells.front().options.Text("out");
  if (!file.empty()) {
    WriteTextFile((file.parent_path() / "summary.json").string(),
                  [&](std::ostream& stream) { stream << JsonText(summary); });
  }
  if (!first_failure.empty()) {
    throw Failure(fmt::format("{} of {} batches", cells.size() - reports.size(), cells.size()),
                  "they failed; the first: " + first_failure);
  }
}

// Checked options of AsksForBatch. One batch prints its records; several print a table, and write
// summary.json into the folder --out. A batch that fails does not prevent the others. Throws Error,
// Cancelled, Interrupted.
void RunProbeCells(const CommandInput& input, const ProbeRegistry& probes,
                   const std::vector<ProbeCell>& cells) {
  if (cells.front().options.Flag("dry-run")) {
    PrintCosts(input, probes, cells, *SingleRank());
    return;
  }
  const std::unique_ptr<RankGroup> ranks = JoinRankGroup();
  const JobContext job = RankJob(input.job, ranks->rank());
  // No rank may create files that another one takes for an earlier job's.
  ranks->Agree([&] { CheckProbeCells(cells, ranks->size()); });
  ProbeBatchRun run(input, probes, job, *ranks);
  if (cells.size() > 1) {
    RunSeveral(input, cells, run, *ranks);
    return;
  }
  const ProbeBatchReport report =
      run.Run(cells.front(), [&](const ProbeBatchReport& part) { PrintOne(input, probes, part); });
  if (ranks->rank() == 0) PrintOne(input, probes, report);
}

// places, samples.
std::vector<Parameter> BatchOptions() {
  return InGroup("Prompt",
                 {PlacesOption("with --task: ", "records get the axes sample and place in front"),
                  WholeNumberParameter("samples", "with --task: how many samples, from --sample on",
                                       1, 1000000, 1)});
}

// Whether they request several prompts. Throws Error (usage) without a task or together with
// --place. Called before a model is loaded.
bool AsksForBatch(const OptionSet& options) {
  const bool asked = options.IsSet("places") || options.IsSet("samples");
  if (!asked) return false;
  const std::string given = options.IsSet("places") ? "option --places" : "option --samples";
  if (!options.IsSet("task")) {
    throw UsageError(given, "only a task has several prompts", "Give --task, or leave it out");
  }
  if (options.IsSet("places") && options.IsSet("place")) {
    throw UsageError("option --place", "--places is given too", "Give one of them");
  }
  return true;
}

// The batch: --samples from --sample on, each at --places. The tokenizer must outlive it. Throws
// Error (usage).
ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer) {
  CheckPromptFormat(tokenizer, format);
  const std::shared_ptr<const Task> task =
      MakeTaskFor(tokenizer, options.Text("task"), static_cast<uint64_t>(options.Integer("seed")));
  ProbeBatch batch;
  batch.samples.resize(static_cast<size_t>(options.Integer("samples")));
  std::iota(batch.samples.begin(), batch.samples.end(), options.Integer("sample"));
  batch.places = options.IsSet("places") ? ReadPlaces(options.Text("places"), *task)
                                         : std::vector{ReadPlace(*task, options.Text("place"))};
  batch.prompt = [task, format, &tokenizer](int64_t sample, int64_t place) {
    return PromptOfSample(tokenizer, *task, sample, place, format);
  };
  return batch;
}

>>>>>>> lang2
void Save(const CommandInput& input, const Decoder& decoder, const std::vector<Record>& records) {
  const OptionSet& options = input.options;
  if (options.Text("out").empty()) return;
  WriteOptions write;
  write.overwrite = options.Flag("overwrite");
  WriteRecords(
      options.Text("out"), records,
      MakeProvenance(decoder, input.command_line, options.Integer("seed"), options.ToJson()),
      write);
}

// A single prompt.
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
  const auto decoder = Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job);
  const Tokenizer& tokenizer = decoder->tokenizer();
  const auto [prompt, place] = ReadPrompt(options, format, tokenizer, input.job);
  PatchSources sources(*decoder, ReadSourcePrompts(options, format, tokenizer));
  if (!options.Flag("json")) input.job.Log(SentLine(prompt, tokenizer, format));
  if (!options.IsSet("task")) LogPromptNotes(prompt, format, input.job);
  std::vector<Record> records = RunProbes(
      *decoder, prompt, sources.Give(intervention, prompt, input.job), probes, options, input.job);
  // Last, because viewers open a file's first record.
  records.push_back(PromptRecord(prompt, tokenizer, place));
  NoteFormat(prompt, tokenizer, format, records.back());
  records.back().attributes["intervention"] = PrintIntervention(intervention);
  Save(input, *decoder, records);
  input.out << (options.Flag("json") ? ProbeJson(tokenizer, prompt, records, options, probes)
                                     : ProbeText(prompt, records, options, probes));
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
    const bool batch = AsksForBatch(cell.options);
    // Unknown names are reported before a model is loaded.
    probes.RefuseUnusedOptions(cell.options, probes.Selected(cell.options, batch));
    ReadPromptFormat(cell.options);
    CheckSourcesUsed(cell.options, {ParseIntervention(OneSetting(cell.options, "probe"))});
  }
  if (AsksForBatch(cells.front().options)) {
    RunProbeCells(input, probes, cells);
  } else {
    RunPrompt(input, probes);
  }
}

// Options of plugins that collide with the command's are found here: a plugin can't know them all.
void RefuseTakenOptions(const ProbeRegistry& probes, const std::vector<Parameter>& own) {
  for (const ProbeType& type : probes.types()) {
    if (type.plugin.empty()) continue;
    for (const Parameter& option : type.options) {
      const bool taken = std::any_of(own.begin(), own.end(), [&](const Parameter& other) {
        return other.name == option.name;
      });
      if (!taken) continue;
      throw Failure("plugin " + type.plugin,
                    "its option --" + option.name + " is an option of midscope probe",
                    "Rename probe '" + type.name + "'");
    }
  }
}

std::vector<Parameter> ProbeOptions(const ProbeRegistry& probes) {
  std::vector<Parameter> options = ModelOptions();
  options.front().required = false;  // a plan may name it
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
  add(InGroup("Probes",
              {PluginOption(), FlagParameter("list", "describe each probe, and do nothing else")}));
  RefuseTakenOptions(probes, options);
  add(InGroup("Probes", probes.Options()));
  return options;
}

Command ProbeCommandWith(const ProbeRegistry& probes) {
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
  command.examples =
      "  midscope probe embedded --prompt 'The capital of France is' --out france.h5\n"
      "  midscope probe embedded --prompt-file notes.txt --span 'gold=the key is 42' \\\n"
      "      --answer ' 42' --with 'channel(100, factor=-1, layers=8-25)' --out notes.h5\n"
      "  midscope probe embedded --task list:lines=20 --place 10 --channels 100,215 --out "
      "list.h5\n"
      "  midscope probe embedded --task list:lines=20 --places 1,10,20 --samples 3 \\\n"
      "      --probes span_attention,logit_lens --out places.h5\n"
      "  midscope probe --plan probes.toml --out runs --resume\n"
      "  midscope probe embedded --prompt-file book.txt --probes perplexity --window 2048\n"
      "  midscope probe --plugin ./libmine.so --list";
  command.is_shared = [](const OptionSet& options) {
    return !options.Flag("list") && !options.Flag("dry-run") &&
           AsksForBatch(ProbeCells(options).front().options);
  };
  command.run = [probes](const CommandInput& input) { RunProbe(probes, input); };
  command.with_probes = ProbeCommandWith;
  return command;
}

}  // namespace

Command ProbeCommand() { return ProbeCommandWith(BuiltInProbes()); }

}  // namespace midscope::cli
