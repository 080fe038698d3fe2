// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_lock.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/channels_table.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/find_channels.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"

namespace midscope::cli {
namespace {

// Describes the layers in which channels are scaled, and states whether they are the paper's.
std::string LayersText(const ValidationPlan& plan, int64_t model_layers) {
  const auto published = PublishedLayers(model_layers);
  const bool from_table = published && published->Text() == plan.layers.Text();
  return fmt::format("layers {} of {}: {}", plan.layers.Text(), model_layers,
                     from_table ? "the paper's Table 5"
                                : "Table 5 does not list a model of this number of layers; a "
                                  "quarter to five sixths, near its rows");
}

// Checks the options before a model is loaded.
void CheckEarly(const OptionSet& options) {
  CheckChannelOptions(options);
  const std::string& file = options.Text("out");
  if (file.empty() && options.Flag("resume")) {
    throw UsageError("option --resume", "it needs a file to resume", "Give --out FILE.h5");
  }
  CheckOverwrite(options);
  if (!file.empty()) {
    const bool may_exist = options.Flag("resume") || options.Flag("overwrite");
    CheckOutputPath(file, may_exist, "Give --resume to go on, --overwrite, or another --out");
    CheckUnfinishedFiles(file, may_exist);
  }
}

// Returns whether the search is so long that its duration is estimated first.
bool IsLong(const FindChannelsRun& run) {
  constexpr int64_t kManyTokens = 10000;
  return run.search.states.prompts * run.search.states.tokens > kManyTokens;
}

// Reads the results that a finished search wrote. Throws Error (failure) if the file was written
// with another plan.
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

std::vector<Record> FindOrExplain(const FindChannelsRun& run, bool overwrite,
                                  const JobContext& job) {
  try {
    return FindChannels(run, job);
  } catch (const Cancelled&) {
    if (run.out.empty()) throw;
    if (!HasUnfinishedSearch(run.out))
      throw Interrupted("search interrupted before anything of it was done");
    throw Interrupted(
        fmt::format("search interrupted: what was done is beside {}. The same "
                    "command with --resume{} continues",
                    run.out, overwrite ? " in place of --overwrite" : ""));
  }
}

// Logs the first channel of a preliminary ranking, or all channels of the final one, in case the
// validation is interrupted.
void LogRanking(const Record& search, int64_t top, const JobContext& job) {
  job.Log(search.attributes.contains(kPlannedPrompts)
              ? LeaderText(search)
              : "ranking, before validation:\n" +
                    ChannelTables({search}, static_cast<size_t>(top)).Text());
}

void RunChannels(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckEarly(options);
  FindChannelsRun run = ReadChannelOptions(
      options, OpenDecoder(options.Text("model"), ReadDecoderOptions(options), input.job));
  run.out = options.Text("out");
  run.resume = options.Flag("resume");
  CheckSearchOptions(run.search, run.decoder->config());
  const std::string plan_json = FindChannelsPlanJson(run);
  std::vector<Record> records;
  const bool overwrite = options.Flag("overwrite");
  std::optional<SweepLock> lock;
  if (!run.out.empty()) lock.emplace(run.out);
  if (overwrite)
    RemoveUnfinishedFiles(run.out);  // the results file stays until the new one is complete
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
    run.on_partial = [&](const Record& record) {
      if (record.name == kChannelSearchRecord) LogRanking(record, run.top, input.job);
    };
    records = FindOrExplain(run, overwrite, input.job);
    if (!run.out.empty()) {
      try {
        WriteRecords(run.out, records,
                     MakeProvenance(*run.decoder, input.command_line, options.Integer("seed"),
                                    options.ToJson()),
                     {.overwrite = overwrite, .plan_json = plan_json});
      } catch (const Error&) {  // print the result of hours of work anyway
        input.out << FittedLines(ChannelTables(records, static_cast<size_t>(run.top)).Text());
        throw;
      }
      RemoveUnfinishedFiles(run.out);
    }
  }
  input.out << (options.Flag("json")
                    ? ChannelsJson(records, run.out)
                    : FittedLines(ChannelTables(records, static_cast<size_t>(run.top)).Text()) +
                          FileNote(run.out));
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
      "leaves files beside it from which --resume continues.";
  command.positionals = {"model"};
  command.options = ModelOptions();
  const std::vector<Parameter> search = ChannelOptions();
  command.options.insert(command.options.end(), search.begin(), search.end());
  const std::vector<Parameter> last = InGroup(
      "Output", {OutOption("the HDF5 file to write: ranking, curves, losses"),
                 FlagParameter("resume", "go on where an interrupted search stopped"),
                 FlagParameter("overwrite", "replace the file where it exists"), JsonOption()});
  command.options.insert(command.options.end(), last.begin(), last.end());
  command.options =
      WithBrief(std::move(command.options), {"model", "preset", "ranking", "validate", "factors",
                                             "layers", "control", "seed", "out", "resume", "json"});
  command.examples =
      "  midscope channels embedded\n"
      "  midscope channels embedded --validate none --json\n"
      "  midscope channels model.gguf --validate kv --factors 0,-1 --layers 10-25 --control \\\n"
      "      --out channels.h5";
  command.run = RunChannels;
  return command;
}

}  // namespace midscope::cli
