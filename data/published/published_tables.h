// SPDX-License-Identifier: MIT
// Tables of published results (data/published), with their sources and known errors. Numbers are as
// printed; nothing is corrected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/published/tuning_recipe.h"

namespace midscope {

enum class PublishedMarkKind {
  kSamples,        // the number is impossible with the stated number of samples
  kAverage,        // the printed average is not the mean of the cells
  kSum,            // a printed difference is not the difference of the cells
  kCopy,           // suspected copy error
  kTransposition,  // two digits are probably swapped
  kDeparture,      // paper and public code differ
};

// A known error of a cell; if `column` is "", of a whole row.
struct PublishedMark {
  std::string row;
  std::string column;
  PublishedMarkKind kind = PublishedMarkKind::kCopy;
  std::string note;
};

// Columns whose numbers are outcomes by place of the gold piece.
struct PublishedOutcome {
  std::string task;                  // in the form of --task: "mdqa:documents=10"
  std::vector<std::string> columns;  // one per place
  std::vector<int64_t> places;       // 1-based ranks of the gold piece
  std::string rows;  // prefix of the labels of the rows that it holds for; "": all rows
};

// The method of a row of a table, as settings of this program.
struct PublishedMethod {
  std::string term;                   // "none", "pi", "ms-poe", ...; "": not in this program
  std::vector<std::string> settings;  // in canonical form; several if paper and code differ. Empty:
                                      // the source does not state the arguments
  // Tuned models: "linear", "ntk" or "yarn", which a setting may state in place of the model's
  // config; "": no interpolation is matched.
  std::string interpolation = {};
  int64_t original_context = 0;  // tokens that the model was trained on before tuning
};

// A column whose numbers are not outcomes by place, and the number of a run to compare it with.
struct PublishedNumber {
  std::string column;
  std::string task;  // in the form of --task; the task of the run may state more parameters
  std::vector<std::string> sets;  // data sets of the run to average over; empty: the whole run
  std::string measure;            // "answered" (a share or score), "perplexity", "seconds"
  std::vector<int64_t> places;    // places to average over; empty: all places of the run
  // For "seconds", whose unit the source does not state, the label of a row: published numbers are
  // divided by those of this row, the run's by those of this row's setting.
  std::string relative_to;
  std::string data;  // required contents of the user's files, and details that the source leaves
                     // open; may be ""
};

// How closely a setting matches the method of a row.
enum class PublishedMatch {
  kNone,            // another method
  kOtherArguments,  // the same method with other arguments than the source states
  kMethodAlone,     // the same method; the source states no arguments
  kSame,            // the same method and arguments
};

// Returns the method with the setting of its interpolation added for a run's model: "pi(8)",
// "ntk(8)", or "yarn(8, context=4096, form=cream)", the form in the public code of PoSE and CREAM
// (arXiv 2309.10400, 2406.07138). The factor is the context in `run` / original_context. Returns
// the method unchanged if it has no interpolation, or if `run` states no context.
PublishedMethod MethodForRun(PublishedMethod method, const TuningRecipe& run);

// Compares a setting, in canonical form, with a method.
PublishedMatch MatchSetting(const std::string& setting, const PublishedMethod& method);

struct PublishedTable {
  std::string name;    // "mspoe-t2-mdqa"
  std::string source;  // "Zhang et al., ..., arXiv 2403.04797, Table 2"
  std::string title;
  std::string bos;      // begin-of-text tokens at the start of its prompts; "": not stated
  std::string unit;     // "%", "score", "perplexity"
  int64_t samples = 0;  // samples per cell according to the source; 0: not stated
  std::vector<std::string> columns;
  std::vector<std::string> rows;  // row labels, their parts joined by " / "
  // [row], or [column] if columns_are_models: the model; "": none is named. Empty: the table names
  // no models.
  std::vector<std::string> models;
  bool columns_are_models = false;
  std::vector<std::vector<std::string>> cells;  // [row][column], as printed; "": empty cell
  std::vector<PublishedOutcome> outcomes;
  std::map<std::string, std::vector<std::string>>
      averages;  // by column of averages: the columns that it averages
  std::vector<PublishedNumber> numbers;
  std::map<std::string, PublishedMethod> methods;  // keyed by the end of row labels
  // For rows whose settings differ by column; keyed by column, then by the end of row labels.
  std::map<std::string, std::map<std::string, PublishedMethod>> column_methods;
  std::map<std::string, TuningRecipe> recipes;  // of tuned models' rows; keyed as `methods`
  std::vector<PublishedMark> marks;
  std::vector<std::string> notes;

  // The cell as a number; NaN if it is empty or not a number.
  double Value(size_t row, size_t column) const;
  size_t ColumnIndex(std::string_view column) const;  // throws std::logic_error if unknown
  // Returns the marks of a cell and those of its whole row.
  std::vector<const PublishedMark*> MarksOf(size_t row, std::string_view column) const;
  const PublishedMethod& MethodOf(size_t row) const;
  const PublishedMethod& MethodOf(size_t row, const std::string& column) const;
  const TuningRecipe& RecipeOf(size_t row) const;  // empty: the row's model was not tuned
  // Returns the models that the table names, each once, in the order of the table.
  std::vector<std::string> ModelNames() const;
  // Returns the model of a row, and of a column's cell in it; "" if the table does not name it.
  const std::string& ModelOf(size_t row) const;
  const std::string& ModelOf(size_t row, std::string_view column) const;
};

// Returns all tables, in a fixed order.
const std::vector<PublishedTable>& PublishedTables();

// Returns the tables called `name` or "`name`-..." ("mspoe-t2": both halves of Table 2). Throws
// Error (usage) that lists the existing names if there are none.
std::vector<const PublishedTable*> FindPublishedTables(std::string_view name);

// A row of a table as a line over places, drawn or printed beside the lines of a sweep.
struct PublishedLine {
  const PublishedTable* table = nullptr;
  std::string task;                // the published task, "kv:pairs=50"
  int64_t pieces = 0;              // number of pieces of that task
  std::string label;               // label of the row
  std::string model;               // as returned by ModelOf for the row
  PublishedMethod method;          // as returned by MethodOf for the row
  TuningRecipe recipe;             // as returned by RecipeOf for the row
  std::vector<int64_t> places;     // 1-based
  std::vector<double> accuracy;    // share of samples, 0 to 1; NaN: empty cell
  std::vector<bool> marked;        // whether the cell has a known error
  std::vector<std::string> notes;  // known errors, one per place; "": none
  // [place]: number of samples of the accuracy; 0: not stated, or contradicted by a mark.
  std::vector<int64_t> samples;
};

// Whether `task`, of a run, equals the published task in everything that the latter states.
bool IsPublishedTask(std::string_view published, std::string_view task);

// Returns the number of pieces in `task`: the value of the parameter that `published`, a task of
// the same kind, states ("kv:pairs=50": pairs); 0 if `task` does not state it.
int64_t PublishedPieces(std::string_view published, std::string_view task);

// Returns the lines of `table` for tasks of the same kind and number of pieces as `task`; empty if
// it has none. Other parameters, such as seed in "mdqa:documents=10,seed=3", are ignored.
std::vector<PublishedLine> PublishedLines(const PublishedTable& table, std::string_view task);

// As above, but if the table has the task only with other numbers of pieces, returns those lines.
std::vector<PublishedLine> PublishedLinesOfKind(const PublishedTable& table, std::string_view task);

// Returns the contents of the files in data/published, by file name. Internal to data/.
const std::map<std::string, std::string>& PublishedFiles();

}  // namespace midscope
