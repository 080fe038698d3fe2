// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/positions/position_sampler.h"
#include "core/positions/relative_distances.h"
#include "probes/base/records.h"
#include "probes/cli/commands/positions_file.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/measure/builtin/position_coverage.h"
#include "probes/model/provenance.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostSamples = 1'000'000'000;
constexpr int64_t kRowsShown = 20;
constexpr size_t kRunsShown = 5;

// The parsed options of the command.
struct Question {
  const PositionSampler* sampler = nullptr;
  std::vector<const PositionSampler*> samplers;  // the sampler and those it is compared with
  PositionRequest request;                       // the request to `sampler`
  SampleRange range;
  bool coverage = false;
};

const PositionSampler& SamplerNamed(const std::string& name) {
  if (const PositionSampler* sampler = FindPositionSampler(name)) return *sampler;
  std::vector<std::string> known = NamesIn(PositionSamplers());
  throw UsageError("sampler '" + name + "'", "the sampler is unknown", KnownWordsHint(name, known));
}

PositionRequest RequestOf(const PositionSampler& sampler, const OptionSet& options) {
  PositionRequest request;
  request.context = options.Integer("context");
  if (options.Has("tokens")) {
    request.tokens = options.Integer("tokens");
  } else if (sampler.name == "full") {
    request.tokens = request.context;
  } else {
    throw UsageError("option --tokens", "the sampler " + sampler.name + " needs it",
                     "Give the tokens of a sample, such as the model's trained context");
  }
  if (options.Has("document")) request.document = options.Integer("document");
  request.seed = static_cast<uint64_t>(options.Integer("seed"));
  return request;
}

Question ReadQuestion(const OptionSet& options) {
  Question question;
  question.sampler = &SamplerNamed(options.Text("sampler"));
  question.samplers = {question.sampler};
  for (const std::string& name : options.TextList("beside")) {
    const PositionSampler& sampler = SamplerNamed(name);
    if (std::find(question.samplers.begin(), question.samplers.end(), &sampler) !=
        question.samplers.end()) {
      throw UsageError("option --beside", "the sampler " + name + " is there already");
    }
    question.samplers.push_back(&sampler);
  }
  question.coverage = options.Flag("coverage");
  if (question.samplers.size() > 1 && !question.coverage) {
    throw UsageError("option --beside", "it compares coverage", "Give --coverage with it");
  }
  CheckSamplerOptions(question.samplers, options);
  question.request = RequestOf(*question.sampler, options);
  question.range.samples = options.Integer("samples");
  question.range.first = options.Integer("first");
  return question;
}

// Returns {"share": {"cream": [share after 1, 2, ... samples], ...}, "theorems": [{...}, ...]}.
Json CoverageJson(const Record& coverage, const Record* theorems) {
  const std::vector<std::string>& names = coverage.FindAxis("sampler")->labels;
  const auto samples = static_cast<ptrdiff_t>(coverage.FindAxis("samples")->size);
  const auto& shares = ArrayValues<double>(coverage, "coverage");
  Json json = Json::object();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto row = shares.begin() + static_cast<ptrdiff_t>(i) * samples;
    json["share"][names[i]] = std::vector<double>(row, row + samples);
  }
  if (!theorems) return json;
  json["theorems"] = Json::array();
  for (int64_t i = 0; i < theorems->FindAxis("segments")->size; ++i) {
    Json row = Json::object();
    for (const Array& array : theorems->arrays) {
      row[array.name] = std::get<std::vector<int64_t>>(array.data)[static_cast<size_t>(i)];
    }
    json["theorems"].push_back(row);
  }
  return json;
}

const Record* TheoremsOf(const std::vector<Record>& coverage) {
  return coverage.size() > 1 ? &coverage[1] : nullptr;
}

void WriteJson(const Question& question, const SampledPositions& positions,
               const std::vector<Record>& coverage, const JobContext& job, std::ostream& out) {
  out << "{\"positions\": [";
  for (int64_t i = 0; i < question.range.samples; ++i) {
    job.ThrowIfCancelled();
    if (i > 0) out << ",\n";
    WriteIds(positions.draw(question.range.first + i).position_id, out);
  }
  out << "]";
  if (!coverage.empty())
    out << ", \"coverage\": " << CoverageJson(coverage[0], TheoremsOf(coverage)).dump();
  out << "}\n";
}

// Returns position ids as ranges: "0-31  8000-12031  32736-32767".
std::string RunsText(const std::vector<IdRun>& runs) {
  if (runs.size() > kRunsShown) {
    return fmt::format("{} runs within {}-{}", runs.size(), runs.front().first,
                       runs.back().first + runs.back().count - 1);
  }
  std::string text;
  for (const IdRun& run : runs) {
    if (!text.empty()) text += "  ";
    text += run.count == 1 ? std::to_string(run.first)
                           : fmt::format("{}-{}", run.first, run.first + run.count - 1);
  }
  return text;
}

std::string SamplesText(const Question& question, const SampledPositions& positions) {
  const int64_t context = question.request.context;
  const bool counts = context <= kLongestCoveredContext;
  TextTable table({"sample", "position ids", "distances", "of all", "so far"});
  DistanceCounts together(counts ? context : 1);
  const auto covered = [](const DistanceCounts& distances) {
    const std::vector<int64_t> pairs = distances.Counts();
    return std::count_if(pairs.begin(), pairs.end(), [](int64_t count) { return count > 0; });
  };
  const auto share = [context](int64_t number) {
    return fmt::format("{:.3f}", static_cast<double>(number) / static_cast<double>(context));
  };
  const int64_t shown = std::min(question.range.samples, kRowsShown);
  for (int64_t sample = question.range.first; sample < question.range.first + shown; ++sample) {
    const std::vector<int64_t> ids = positions.draw(sample).position_id;
    std::vector<std::string> row = {std::to_string(sample), RunsText(IdRuns(ids)), "", "", ""};
    if (counts) {
      DistanceCounts alone(context);
      alone.Add(ids);
      together.Add(ids);
      const int64_t distances = covered(alone);
      row = {row[0], row[1], std::to_string(distances), share(distances), share(covered(together))};
    }
    table.Add(row);
  }
  std::string text =
      fmt::format("{}: samples of {} tokens, position ids of a context of {}, seed {}\n\n",
                  positions.sampler, question.request.tokens, context, question.request.seed);
  text += table.Text();
  if (shown < question.range.samples)
    text += fmt::format("... and {} more\n", question.range.samples - shown);
  return text;
}

// Returns the numbers of samples for which a table has rows: 1, 2, 5, 10, ... and the last.
std::vector<int64_t> TableCounts(int64_t samples) {
  std::vector<int64_t> counts;
  for (int64_t power = 1; power < samples; power *= 10) {
    for (const int64_t times : {1, 2, 5}) {
      if (power * times < samples) counts.push_back(power * times);
    }
  }
  counts.push_back(samples);
  return counts;
}

std::string CoverageText(const Record& coverage) {
  const Axis& samplers = *coverage.FindAxis("sampler");
  const int64_t samples = coverage.FindAxis("samples")->size;
  std::vector<std::string> header = {"samples"};
  header.insert(header.end(), samplers.labels.begin(), samplers.labels.end());
  TextTable table(header);
  for (const int64_t count : TableCounts(samples)) {
    std::vector<std::string> row = {std::to_string(count)};
    for (int64_t i = 0; i < samplers.size; ++i) {
      const auto at = static_cast<size_t>(i * samples + count - 1);
      row.push_back(fmt::format("{:.3f}", ArrayValues<double>(coverage, "coverage")[at]));
    }
    table.Add(row);
  }
  return "\nShare of all distances 0 to L-1 that are between two tokens of so many samples:\n" +
         table.Text();
}

std::string TheoremsText(const Record& theorems) {
  const std::vector<std::string>& segments = theorems.FindAxis("segments")->labels;
  const auto at = [&theorems](const char* name, size_t i) {
    return ArrayValues<int64_t>(theorems, name)[i];
  };
  const auto range = [&at](const std::string& name, size_t i) {
    const int64_t first = at((name + "_first").c_str(), i);
    const int64_t last = at((name + "_last").c_str(), i);
    return first > last ? std::string("nowhere") : fmt::format("{} to {}", first, last);
  };
  std::string text;
  for (size_t i = 0; i < segments.size(); ++i) {
    text += fmt::format(
        "CREAM's Theorem B.1, {}: at most {} distances in a sample, where P_s is "
        "{} or {}\n",
        segments[i], at("distances", i), range("lower", i), range("upper", i));
  }
  return text.empty() ? text : "\n" + text;
}

void RunPositions(const CommandInput& input) {
  const OptionSet& options = input.options;
  const Question question = ReadQuestion(options);
  CheckPositionsFile(question.range, question.request.tokens, question.coverage, options);
  std::vector<SampledPositions> samplers;
  for (const PositionSampler* sampler : question.samplers) {
    samplers.push_back(MakeSampledPositions(*sampler, RequestOf(*sampler, options), options));
  }
  std::vector<Record> coverage;
  if (question.coverage) {
    coverage.push_back(PositionCoverage(samplers, question.range.samples, input.job));
    for (const SampledPositions& positions : samplers) {
      if (positions.sampler == "cream") {
        coverage.push_back(CreamTheorems(positions.request, options));
      }
    }
  }
  WritePositionsFile(input, samplers.front(), question.range, coverage);
  if (options.Flag("json")) {
    WriteJson(question, samplers.front(), coverage, input.job, input.out);
    return;
  }
  input.out << FittedLines(SamplesText(question, samplers.front()));
  if (question.coverage) {
    input.out << FittedLines(CoverageText(coverage[0]));
    if (const Record* theorems = TheoremsOf(coverage))
      input.out << FittedLines(TheoremsText(*theorems));
  }
  input.out << FileNote(options.Text("out"));
}

std::vector<Parameter> Options() {
  std::vector<Parameter> options = {
      SamplerChoice("sampler", "what the ids are drawn by"),
      WholeNumberParameter("tokens",
                           "N: tokens of a sample; the sampler full has as many as the context", 1,
                           kLargestPositionContext),
      Required(WholeNumberParameter("context", "L: position ids are below it", 1,
                                    kLargestPositionContext)),
      WholeNumberParameter("samples", "how many", 1, kMostSamples, 10),
      WholeNumberParameter("first", "index of the first; an index and a seed make one sample", 0,
                           kMostSamples, 0),
      WholeNumberParameter("seed", "seed of the samples", 0, kNoMaximum, 1),
      WholeNumberParameter("document",
                           "tokens of the document from which token_index is taken; by default "
                           "as long as the context",
                           1, kNoMaximum),
      FlagParameter("coverage",
                    "counts the relative distances and the positions that the samples 0 to "
                    "--samples - 1 show"),
      TextListParameter("beside", "with --coverage: another sampler to compare; may be repeated"),
      OutOption("the file to write: .h5, .jsonl or .npz"),
      FlagParameter("overwrite", "write over an existing file"),
      JsonOption()};
  const std::vector<Parameter> samplers = SamplerOptions();
  options.insert(options.end(), samplers.begin(), samplers.end());
  return options;
}

std::string SamplersText() {
  std::string text;
  for (const PositionSampler& sampler : PositionSamplers()) {
    text += "\n" + sampler.name + ":\n" +
            Paragraph("  ", sampler.summary + " Source: " + sampler.source, 2) + "\n";
  }
  return text;
}

}  // namespace

Command PositionsCommand() {
  Command command;
  command.name = "positions";
  command.summary = "position ids as training for longer contexts samples them";
  command.description =
      "Samples of N tokens with position ids of a longer context L, for training code and for the\n"
      "edit `positions`; how many relative distances they show. Needs no model.\n" +
      SamplersText();
  command.positionals = {"sampler"};
  command.options = Options();
  command.options = WithBrief(
      std::move(command.options),
      {"sampler", "tokens", "context", "samples", "seed", "coverage", "beside", "out", "json"});
  command.examples =
      "  midscope positions cream --tokens 4096 --context 32768 --coverage --beside pose\n"
      "  midscope positions randpos --tokens 4096 --context 32768 --samples 5 --json\n"
      "  midscope positions pose --chunks 3 --tokens 2048 --context 16384 --samples 1000 --out "
      "p.npz";
  command.run = RunPositions;
  return command;
}

}  // namespace midscope::cli
