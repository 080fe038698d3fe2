// SPDX-License-Identifier: MIT
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file_access.h"
#include "core/base/text.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/drawn_pictures.h"
#include "probes/cli/commands/file_outcome.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/option_binder.h"
#include "probes/cli/text/outcome_svg.h"
#include "probes/model/embedded_model.h"

namespace midscope::cli {
namespace {

// Runs another command as if the user had typed it.
void RunOther(const std::vector<std::string>& words, const CommandInput& input) {
  const Command& command = FindCommand(words.front());
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  ParseArguments(command, {words.begin() + 1, words.end()}, options, common);
  const std::string command_line = ShellCommand("midscope", words);
  input.job.Log(command_line);
  command.run({options, input.job, command_line, input.out, input.ranks});
}

void WriteOutcomeSvg(const std::string& sweep, const std::string& svg) {
  const FileOutcome outcome = ReadFileOutcome(RunReader(sweep));
  std::vector<std::string> places;
  places.reserve(outcome.places.size());
  for (const int64_t place : outcome.places) places.push_back(std::to_string(place));
  std::vector<OutcomeCurve> curves;
  curves.reserve(outcome.settings.size());
  for (size_t setting = 0; setting < outcome.settings.size(); ++setting) {
    const auto begin = outcome.answer_nll.begin() + static_cast<int64_t>(setting * places.size());
    curves.push_back(
        {outcome.settings[setting], {begin, begin + static_cast<int64_t>(places.size())}});
  }
  WriteTextFile(svg, [&](std::ostream& out) {
    out << OutcomeSvg("The requested line at five places, the embedded model",
                      "answer_nll, nats (lower is better)", places, curves);
  });
}

void RunDemo(const CommandInput& input) {
  const std::filesystem::path folder = input.options.Text("out");
  MakeFolder(folder, "Give another --out");
  FetchEmbeddedModel(input.job);
  const std::string sweep = (folder / "list.h5").string();
  const std::string probe = (folder / "probe.h5").string();
  for (const std::string& file : {sweep, probe}) std::filesystem::remove(file);
  input.job.Log(
      "20 lines 'NAME bought: ITEM', one of them requested, at five places: where it is found");
  RunOther({"sweep", "embedded", "--task", "list:lines=20", "--places", "1,5,10,15,20", "--samples",
            std::to_string(input.options.Integer("samples")), "--seed", "1", "--with", "none",
            "--with", "channel(100, factor=-1, layers=8-25)", "--out", sweep},
           input);
  const std::string svg = (folder / "outcome.svg").string();
  WriteOutcomeSvg(sweep, svg);
  input.out << FileNote(svg) << std::flush;
  input.job.Log("one of those prompts, the requested line in the middle: what the model looks at");
  RunOther({"probe", "embedded", "--task", "list:lines=20", "--place", "10", "--channels", "100",
            "--out", probe},
           input);
  input.out << std::flush;  // prints the table before the last line
  input.job.Log("the picture to look at: " + svg +
                "; the same of your model: the command above with its path in place of 'embedded'");
  if (!CanDrawPictures()) return;
  for (const std::string& file : {sweep, probe}) {
    PictureRequest request;
    request.address = file;
    request.format = "png";
    DrawPictures(request, folder.string(), input.job);
  }
  input.out << "pictures: " << folder.string() << "\n";
}

}  // namespace

Command DemoCommand() {
  Parameter out = OutOption("folder of the files of results and the pictures");
  out.default_value = std::string("midscope-demo");
  constexpr int64_t kMostSamples = 1000;
  constexpr int64_t kSamples = 24;
  const Parameter samples =
      WholeNumberParameter("samples", "samples of the sweep", 2, kMostSamples, kSamples);
  Command command;
  command.name = "demo";
  command.summary = "the main job on a small model, in a minute: does the place matter?";
  command.description =
      "Shows position bias in the embedded model: a list task with the requested line at five\n"
      "places, with and without one hidden channel's sign flipped; the verdict, the table, a\n"
      "picture, and what the last query attends to in one of the prompts. The model (98 MB) is\n"
      "fetched first if it is missing. Files of an earlier demo in the folder are replaced.";
  command.options = WithBrief({out, samples}, {"out", "samples"});
  command.examples =
      "  midscope demo\n"
      "  midscope demo --out results --samples 40";
  command.run = RunDemo;
  return command;
}

}  // namespace midscope::cli
