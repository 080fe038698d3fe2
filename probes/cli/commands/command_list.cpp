// SPDX-License-Identifier: MIT
#include <utility>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns the names of the records that an address selects: all records of a file, or one.
std::vector<std::string> NamedRecords(const RunReader& reader, const std::string& inside) {
  if (inside.empty()) return reader.record_names();
  return {inside.substr(0, inside.find('/'))};
}

bool IsNamed(const Array& array, const std::string& inside) {
  const size_t slash = inside.find('/');
  return slash == std::string::npos || inside.substr(slash + 1) == array.name;
}

std::string ListText(const RunReader& reader, const std::string& inside) {
  TextTable table({"address", "shape", "type", "unit", "what it is"});
  for (const std::string& name : NamedRecords(reader, inside)) {
    const Record frame = reader.Describe(name);
    for (const Array& array : frame.arrays) {
      if (!IsNamed(array, inside)) continue;
      table.Add({"::" + DisplayText(reader.GroupPath(name) + "/" + array.name),
                 DisplayText(ShapeText(frame, array)), TypeName(array.data),
                 DisplayText(array.unit), DisplayText(array.description)});
    }
  }
  return FileLine(reader) + "\n" + table.Text();
}

Json ListJson(const RunReader& reader, const std::string& inside) {
  Json records = Json::array();
  for (const std::string& name : NamedRecords(reader, inside)) {
    const Record frame = reader.Describe(name);
    Json arrays = Json::array();
    for (const Array& array : frame.arrays) {
      if (!IsNamed(array, inside)) continue;
      Json shape = Json::array();
      for (const std::string& axis : array.axes) shape.push_back(frame.FindAxis(axis)->size);
      arrays.push_back(
          {{"address", reader.path() + "::" + reader.GroupPath(name) + "/" + array.name},
           {"name", array.name},
           {"axes", array.axes},
           {"shape", shape},
           {"type", TypeName(array.data)},
           {"unit", array.unit},
           {"description", array.description}});
    }
    records.push_back({{"name", name}, {"arrays", arrays}});
  }
  Json file = {{"file", reader.path()}, {"provenance", ProvenanceJson(reader.provenance())}};
  const Json plan = Json::parse(reader.plan_json(), nullptr, false);
  if (plan.is_object()) file["plan"] = plan;
  file["records"] = records;
  return file;
}

// Runs `list`. If a file is damaged, reports it, continues with the next file, and fails at the
// end.
void RunList(const CommandInput& input) {
  const std::vector<std::string>& files = input.options.TextList("files");
  Json all = Json::array();
  size_t failed = 0;
  for (const std::string& file : files) {
    try {
      const RunAddress address = ParseRunAddress(file);
      if (IsJournal(address.path)) {
        const JournalSummary journal = SummariseJournal(address.path);
        if (input.options.Flag("json")) {
          all.push_back(JournalJson(address.path, journal));
        } else {
          input.out << FittedLines(JournalLine(address.path, journal));
        }
        continue;
      }
      const RunReader reader(address.path);
      if (input.options.Flag("json")) {
        all.push_back(ListJson(reader, address.inside));
      } else {
        input.out << FittedLines(ListText(reader, address.inside));
      }
    } catch (const Error& error) {
      if (files.size() == 1) throw;
      input.job.Warn(error.what());
      ++failed;
    }
  }
  if (input.options.Flag("json")) {
    input.out << Json{{"files", all}}.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  if (failed > 0) {
    input.out.flush();  // so that the list of readable files precedes the error
    throw Failure("ls", fmt::format("{} of {} files could not be read", failed, files.size()));
  }
}

}  // namespace

Command ListCommand() {
  Parameter files = TextListParameter("files", "files of results, or FILE.h5::RECORD");
  files.required = true;
  Command command;
  command.name = "ls";
  command.summary = "what files of results hold";
  command.description =
      "Lists the arrays of HDF5 files of Midscope with their addresses, which every command that\n"
      "reads files takes, and their shapes. Reads no data, so it is quick on files of any size. Of "
      "a\n"
      "sweep's journal it prints its file and its number of samples.";
  command.positionals = {"files"};
  command.options = {files, JsonOption()};
  command.options = WithBrief(std::move(command.options), {"files", "json"});
  command.examples =
      "  midscope ls run.h5\n"
      "  midscope ls results/*.h5\n"
      "  midscope ls run.h5::sweep --json";
  command.run = RunList;
  return command;
}

}  // namespace midscope::cli
