// SPDX-License-Identifier: MIT
#include "data/published/published_tables.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/formats/csv_rows.h"
#include "core/terms/intervention_text.h"
#include "kernels/check.h"

namespace midscope {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

constexpr const char* kIndex = "tables.json";
constexpr double kPercent = 100;

PublishedMarkKind MarkKind(const std::string& text) {
  static const std::map<std::string, PublishedMarkKind> kinds = {
      {"samples", PublishedMarkKind::kSamples},
      {"average", PublishedMarkKind::kAverage},
      {"sum", PublishedMarkKind::kSum},
      {"copy", PublishedMarkKind::kCopy},
      {"transposition", PublishedMarkKind::kTransposition},
      {"departure", PublishedMarkKind::kDeparture}};
  return kinds.at(text);
}

// Reads cells and labels of a table from a CSV file whose first `labels` columns are row labels.
void ReadCells(const std::string& file, size_t labels, PublishedTable& table) {
  const std::vector<Texts> rows = ParseCsv(file, PublishedFiles().at(file));
  const auto first = static_cast<std::ptrdiff_t>(labels);
  table.columns.assign(rows.front().begin() + first, rows.front().end());
  for (size_t i = 1; i < rows.size(); ++i) {
    MIDSCOPE_CHECK(rows[i].size() == rows.front().size(),
                   fmt::format("{}: row {} has too few or many cells", file, i));
    std::string label = rows[i].front();
    for (size_t part = 1; part < labels; ++part) label.append(" / ").append(rows[i][part]);
    table.rows.push_back(std::move(label));
    table.cells.emplace_back(rows[i].begin() + first, rows[i].end());
  }
}

// Returns the name of the first term of a setting: "pi" for "pi(1.5) + ...".
std::string FirstTerm(const std::string& setting) { return setting.substr(0, setting.find('(')); }

// Reads a method: a list of settings, or only its name if the source does not state arguments.
PublishedMethod ReadMethod(const json& said) {
  if (said.is_string()) return {said.get<std::string>(), {}};
  PublishedMethod method;
  for (const std::string text : said) {
    method.settings.push_back(PrintIntervention(ParseIntervention(text)));
  }
  method.term = FirstTerm(method.settings.at(0));
  return method;
}

// Returns the methods of a table's rows, keyed by the end of the row labels to which they apply.
std::map<std::string, PublishedMethod> ReadMethods(const json& settings) {
  std::map<std::string, PublishedMethod> methods;
  for (const auto& [ending, said] : settings.items()) methods[ending] = ReadMethod(said);
  return methods;
}

// Returns the value whose key is the longest ending of `label` ("" matches every label); null if
// none matches.
template <typename T>
const T* OfEnding(const std::map<std::string, T>& by_ending, const std::string& label) {
  const T* best = nullptr;
  size_t length = 0;
  for (const auto& [ending, value] : by_ending) {
    const bool whole_word = ending.empty() || label == ending || label.ends_with(" " + ending);
    if (whole_word && (!best || ending.size() > length)) {
      best = &value;
      length = ending.size();
    }
  }
  return best;
}

// For rows of tuned models, adds the position interpolation to the row's method. `contexts`:
// context length in tokens of the model before tuning, keyed by the end of row labels.
void AddInterpolations(const std::map<std::string, int64_t>& contexts, PublishedTable& table) {
  static const std::set<std::string> schemes = {"linear", "ntk", "yarn"};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const TuningRecipe& recipe = table.RecipeOf(row);
    const int64_t* context = OfEnding(contexts, table.rows[row]);
    const auto scheme = recipe.find("interpolation");
    if (!context || scheme == recipe.end() || !schemes.contains(scheme->second)) continue;
    PublishedMethod method = table.MethodOf(row);
    method.interpolation = scheme->second;
    method.original_context = *context;
    table.methods[table.rows[row]] = std::move(method);
  }
}

// Sets the model of each row or column. `said`: {"name": MODEL} for all rows, {"before": [TEXT,
// ...]} or {"after": TEXT} if the model is the part of the row label before or after TEXT, or
// {"columns": {COLUMN: MODEL}}.
void ReadModels(const json& said, PublishedTable& table) {
  if (said.is_null()) return;
  if (said.contains("columns")) {
    table.columns_are_models = true;
    for (const std::string& column : table.columns) {
      table.models.push_back(said.at("columns").value(column, ""));
    }
    return;
  }
  for (const std::string& row : table.rows) {
    std::string model = said.value("name", row);
    for (const std::string end : said.value("before", json::array())) {
      model = model.substr(0, model.find(end));
    }
    const std::string begin = said.value("after", "");
    if (!begin.empty()) model = model.substr(model.rfind(begin) + begin.size());
    table.models.push_back(std::move(model));
  }
}

PublishedTable ReadTable(const json& entry) {
  PublishedTable table;
  table.name = entry.at("name");
  table.source = entry.at("source");
  table.title = entry.at("title");
  table.bos = entry.value("bos", "");
  table.unit = entry.at("unit");
  table.samples = entry.at("samples");
  ReadCells(entry.at("file"), entry.at("label_columns").size(), table);
  for (const json& outcome : entry.value("outcomes", json::array())) {
    table.outcomes.push_back({outcome.at("task"), outcome.at("columns").get<Texts>(),
                              outcome.at("places").get<std::vector<int64_t>>(),
                              outcome.value("rows", "")});
  }
  for (const json& average : entry.value("averages", json::array())) {
    table.averages[average.at("column")] = average.at("of").get<Texts>();
  }
  table.methods = ReadMethods(entry.value("settings", json::object()));
  const json by_column = entry.value("column_settings", json::object());
  for (const auto& [column, said] : by_column.items()) {
    table.column_methods[column] = ReadMethods(said);
  }
  const json recipes = entry.value("recipes", json::object());
  for (const auto& [ending, said] : recipes.items()) {
    table.recipes[ending] = ParseTuningRecipe(said.dump(), kIndex);
  }
  AddInterpolations(entry.value("original_contexts", std::map<std::string, int64_t>()), table);
  ReadModels(entry.value("models", json()), table);
  for (const json& number : entry.value("numbers", json::array())) {
    table.numbers.push_back({number.at("column"), number.at("task"), number.value("sets", Texts()),
                             number.value("measure", "answered"),
                             number.value("places", std::vector<int64_t>()),
                             number.value("relative_to", ""), number.value("data", "")});
  }
  for (const json& mark : entry.value("marks", json::array())) {
    table.marks.push_back(
        {mark.at("row"), mark.at("column"), MarkKind(mark.at("kind")), mark.at("note")});
  }
  table.notes = entry.value("notes", Texts());
  return table;
}

// Returns name and parameters of a task: {"kv", {"pairs=10", "seed=1"}} for "kv:pairs=10,seed=1".
std::pair<std::string, Texts> TaskParts(std::string_view task) {
  const size_t colon = task.find(':');
  std::pair<std::string, Texts> parts{std::string(task.substr(0, colon)), {}};
  std::string_view rest = colon == std::string_view::npos ? "" : task.substr(colon + 1);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    parts.second.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return parts;
}

// Appends a line (accuracy by place) for each table row that has a number for the outcome.
void AddLines(const PublishedTable& table, const PublishedOutcome& outcome,
              std::vector<PublishedLine>& lines) {
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (!table.rows[row].starts_with(outcome.rows)) continue;
    PublishedLine line;
    line.table = &table;
    line.task = outcome.task;
    line.pieces = PublishedPieces(outcome.task, outcome.task);
    line.label = table.rows[row];
    line.model = table.ModelOf(row);
    line.method = table.MethodOf(row);
    line.recipe = table.RecipeOf(row);
    line.places = outcome.places;
    bool any = false;
    for (const std::string& column : outcome.columns) {
      line.accuracy.push_back(table.Value(row, table.ColumnIndex(column)) / kPercent);
      std::string notes;
      int64_t samples = table.samples;
      for (const PublishedMark* mark : table.MarksOf(row, column)) {
        notes.append(notes.empty() ? "" : "; ").append(mark->note);
        if (mark->kind == PublishedMarkKind::kSamples) samples = 0;
      }
      line.samples.push_back(samples);
      line.marked.push_back(!notes.empty());
      line.notes.push_back(std::move(notes));
      any = any || std::isfinite(line.accuracy.back());
    }
    if (any) lines.push_back(std::move(line));
  }
}

}  // namespace

double PublishedTable::Value(size_t row, size_t column) const {
  double value = 0;
  return ReadWhole(cells.at(row).at(column), value) ? value
                                                    : std::numeric_limits<double>::quiet_NaN();
}

size_t PublishedTable::ColumnIndex(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  MIDSCOPE_CHECK(found != columns.end(), "table " + name + " has no column " + std::string(column));
  return static_cast<size_t>(found - columns.begin());
}

std::vector<const PublishedMark*> PublishedTable::MarksOf(size_t row,
                                                          std::string_view column) const {
  std::vector<const PublishedMark*> found;
  for (const PublishedMark& mark : marks) {
    if (mark.row == rows.at(row) && (mark.column.empty() || mark.column == column)) {
      found.push_back(&mark);
    }
  }
  return found;
}

const PublishedMethod& PublishedTable::MethodOf(size_t row) const {
  static const PublishedMethod unknown;
  const PublishedMethod* method = OfEnding(methods, rows.at(row));
  return method ? *method : unknown;
}

const PublishedMethod& PublishedTable::MethodOf(size_t row, const std::string& column) const {
  const auto of_column = column_methods.find(column);
  if (of_column == column_methods.end()) return MethodOf(row);
  const PublishedMethod* method = OfEnding(of_column->second, rows.at(row));
  return method ? *method : MethodOf(row);
}

const TuningRecipe& PublishedTable::RecipeOf(size_t row) const {
  static const TuningRecipe none;
  const TuningRecipe* recipe = OfEnding(recipes, rows.at(row));
  return recipe ? *recipe : none;
}

std::vector<std::string> PublishedTable::ModelNames() const {
  std::vector<std::string> names;
  for (const std::string& model : models) {
    const bool is_new = std::find(names.begin(), names.end(), model) == names.end();
    if (!model.empty() && is_new) names.push_back(model);
  }
  return names;
}

const std::string& PublishedTable::ModelOf(size_t row) const {
  static const std::string none;
  return models.empty() || columns_are_models ? none : models.at(row);
}

const std::string& PublishedTable::ModelOf(size_t row, std::string_view column) const {
  return columns_are_models ? models.at(ColumnIndex(column)) : ModelOf(row);
}

PublishedMethod MethodForRun(PublishedMethod method, const TuningRecipe& run) {
  const auto stated = run.find("context");
  int64_t context = 0;
  if (method.interpolation.empty() || method.original_context <= 0 || stated == run.end() ||
      !ReadWhole(stated->second, context) || context < method.original_context) {
    return method;
  }
  const std::string factor =
      NumberText(static_cast<double>(context) / static_cast<double>(method.original_context));
  const std::string setting =
      method.interpolation == "linear" ? fmt::format("pi({})", factor)
      : method.interpolation == "ntk"
          ? fmt::format("ntk({})", factor)
          : fmt::format("yarn({}, context={}, form=cream)", factor, method.original_context);
  method.settings.push_back(PrintIntervention(ParseIntervention(setting)));
  return method;
}

PublishedMatch MatchSetting(const std::string& setting, const PublishedMethod& method) {
  const auto& known = method.settings;
  if (std::find(known.begin(), known.end(), setting) != known.end()) return PublishedMatch::kSame;
  // A setting of several terms ("a + b") is a different method.
  const bool one_term = setting.find(" + ") == std::string::npos;
  const std::string term = FirstTerm(setting);
  const bool is_of_method =
      term == method.term || (!method.interpolation.empty() &&
                              std::any_of(known.begin(), known.end(), [&](const std::string& each) {
                                return FirstTerm(each) == term;
                              }));
  if (!one_term || !is_of_method) return PublishedMatch::kNone;
  return known.empty() ? PublishedMatch::kMethodAlone : PublishedMatch::kOtherArguments;
}

const std::vector<PublishedTable>& PublishedTables() {
  static const std::vector<PublishedTable> tables = [] {
    std::vector<PublishedTable> read;
    for (const json& entry : json::parse(PublishedFiles().at(kIndex))) {
      read.push_back(ReadTable(entry));
    }
    return read;
  }();
  return tables;
}

std::vector<const PublishedTable*> FindPublishedTables(std::string_view name) {
  std::vector<const PublishedTable*> found;
  Texts known;
  const std::string begin = std::string(name) + "-";
  for (const PublishedTable& table : PublishedTables()) {
    known.push_back(table.name);
    if (table.name == name || table.name.starts_with(begin)) found.push_back(&table);
  }
  if (!found.empty()) return found;
  throw UsageError("published table '" + std::string(name) + "'", "the table is unknown",
                   KnownWordsHint(name, known));
}

bool IsPublishedTask(std::string_view published, std::string_view task) {
  const auto wanted = TaskParts(published);
  const auto given = TaskParts(task);
  return wanted.first == given.first &&
         std::all_of(wanted.second.begin(), wanted.second.end(), [&](const std::string& part) {
           return std::find(given.second.begin(), given.second.end(), part) != given.second.end();
         });
}

int64_t PublishedPieces(std::string_view published, std::string_view task) {
  const auto wanted = TaskParts(published);
  if (wanted.second.empty()) return 0;
  const std::string& part = wanted.second.front();
  const std::string begin = part.substr(0, part.find('=') + 1);
  for (const std::string& given : TaskParts(task).second) {
    int64_t pieces = 0;
    if (given.starts_with(begin) && ReadWhole(given.substr(begin.size()), pieces)) return pieces;
  }
  return 0;
}

std::vector<PublishedLine> PublishedLines(const PublishedTable& table, std::string_view task) {
  std::vector<PublishedLine> lines;
  for (const PublishedOutcome& outcome : table.outcomes) {
    if (IsPublishedTask(outcome.task, task)) AddLines(table, outcome, lines);
  }
  return lines;
}

std::vector<PublishedLine> PublishedLinesOfKind(const PublishedTable& table,
                                                std::string_view task) {
  std::vector<PublishedLine> lines = PublishedLines(table, task);
  if (!lines.empty()) return lines;
  for (const PublishedOutcome& outcome : table.outcomes) {
    if (TaskParts(outcome.task).first == TaskParts(task).first) AddLines(table, outcome, lines);
  }
  return lines;
}

}  // namespace midscope
