// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/comparison_tables.h"
#include "probes/cli/commands/file_outcome.h"
#include "probes/cli/commands/report_section.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/html_page.h"
#include "probes/cli/text/record_text.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns --out; by default, the first results file's path with the extension of HTML.
std::string ReportPath(const OptionSet& options) {
  const std::string& out = options.Text("out");
  if (!out.empty()) return out;
  return std::filesystem::path(options.TextList("files").front())
      .replace_extension(".html")
      .string();
}

std::string FileTitle(const RunReader& reader) {
  return std::filesystem::path(reader.path()).filename().string();
}

std::string SectionId(size_t file) { return fmt::format("file-{}", file + 1); }

Json LinesJson(const std::string& lines) {
  Json list = Json::array();
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) list.push_back(line);
  return list;
}

// Adds links to the files and, if all are sweeps, the comparison of the files.
void AddOverview(const std::vector<RunReader>& readers, HtmlPage& page) {
  const bool compared = std::all_of(readers.begin(), readers.end(), HasOutcome);
  std::vector<std::pair<std::string, std::string>> contents;
  if (compared) contents.emplace_back("The files compared", "compared");
  for (size_t file = 0; file < readers.size(); ++file) {
    contents.emplace_back(FileLetter(file) + ": " + FileTitle(readers[file]), SectionId(file));
  }
  page.Contents(contents);
  if (!compared) return;
  page.Heading(2, "The files compared", "compared");
  page.Add(ComparedOutcomesTable(readers, ""));
  page.Add(DifferentFieldsTable(readers));
}

void RunReport(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::vector<std::string>& files = options.TextList("files");
  if (files.size() > kMostLetters) {
    throw UsageError("FILES", fmt::format("more than {} do not fit one report", kMostLetters),
                     "Write several reports");
  }
  const std::string out = ReportPath(options);
  CheckOutputPath(out, options.Flag("overwrite"), "Give --overwrite, or another --out");
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!std::filesystem::equivalent(out, file, ignored)) continue;
    throw UsageError("option --out", out + " is one of the files of results", "Give another name");
  }
  std::vector<RunReader> readers;
  readers.reserve(files.size());
  for (const std::string& file : files) readers.emplace_back(file);
  const bool several = readers.size() > 1;
  HtmlPage page(several ? fmt::format("Midscope report on {} files", readers.size())
                        : "Midscope report on " + FileTitle(readers.front()));
  if (several) AddOverview(readers, page);
  Json json = {{"file", out}, {"files", Json::array()}};
  for (size_t file = 0; file < readers.size(); ++file) {
    input.job.ThrowIfCancelled();
    const RunReader& reader = readers[file];
    if (several) page.Heading(2, FileLetter(file) + ": " + FileTitle(reader), SectionId(file));
    const ReportSection section = AddReportSection(reader, several ? 3 : 2, input.job, page);
    if (section.pictures == 0)
      input.job.Log(reader.path() + ": no pictures: " + section.without_pictures);
    json["files"].push_back({{"file", reader.path()},
                             {"answers", LinesJson(section.answers)},
                             {"pictures", section.pictures}});
  }
  page.Heading(2, "This report");
  page.Preformatted("# makes this page again\n" + input.command_line + "\n");
  WriteTextFile(out, [&](std::ostream& stream) { stream << page.Text(); });
  input.out << (options.Flag("json") ? JsonText(json) : FileNote(out));
}

}  // namespace

Command ReportCommand() {
  Parameter files = TextListParameter("files", "files of results");
  files.required = true;
  Command command;
  command.name = "report";
  command.summary = "files of results as one HTML page to read, print and send";
  command.description =
      "Writes one HTML file that needs no other file and no network: the question, the verdicts\n"
      "with their intervals, pictures, tables, the method, the provenance, and the commands that\n"
      "make all of it again. The numbers are those of midscope show; several sweeps are also\n"
      "compared as by midscope compare. Pictures are drawn by midscope-gui, without a display;\n"
      "where it is not installed, the page says so.";
  command.positionals = {"files"};
  command.options = {
      files, OutOption("the page; by default the first file's name with .html, beside that file"),
      FlagParameter("overwrite", "replace a page that exists"), JsonOption()};
  command.options = WithBrief(std::move(command.options), {"files", "out", "overwrite", "json"});
  command.examples =
      "  midscope report run.h5\n"
      "  midscope report run.h5 probe.h5 --out report.html\n"
      "  midscope report runs/*.h5 --out report.html --overwrite";
  command.run = RunReport;
  return command;
}

}  // namespace midscope::cli
