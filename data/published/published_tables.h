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

// A known error of a published cell or, if `column` is "", of a whole row.
struct PublishedMark {
  std::string row;
  std::string column;
  PublishedMarkKind kind = PublishedMarkKind::kCopy;
  std::string note;
};

// Columns of a table that list the outcome for each position (place) of the gold piece.
struct PublishedOutcome {
  std::string task;                  // as in option --task: "mdqa:documents=10"
  std::vector<std::string> columns;  // names, one per place
  std::vector<int64_t> places;       // [column]: 1-based rank of the gold piece
  std::string rows;                  // applies to rows whose label has this prefix; "": all rows
};

// The method (such as Ms-PoE) behind a table row, as intervention settings of Midscope.
struct PublishedMethod {
  std::string term;                   // "none", "pi", "ms-poe", ...; "": not in Midscope
  std::vector<std::string> settings;  // in canonical form; several if paper and code differ. Empty:
                                      // the source does not state the arguments
  // For tuned models: position interpolation "linear", "ntk" or "yarn", which a run may set by a
  // setting instead of the model's config; "": none.
  std::string interpolation = {};
  int64_t original_context = 0;  // context length in tokens of the model before tuning
};

// A column whose numbers are not outcomes by place, and which number of a run to compare them with.
struct PublishedNumber {
  std::string column;
  std::string task;  // as in option --task; the task of the run may state more parameters
  std::vector<std::string> sets;  // data sets of the run to average over; empty: the whole run
  std::string measure;            // "answered" (a share or score), "perplexity", "seconds"
  std::vector<int64_t> places;    // places to average over; empty: all places of the run
  // For "seconds" of unknown unit: label of a reference row. Published numbers are divided by that
  // row's number, a run's numbers by its number for that row's setting.
  std::string relative_to;
  std::string data;  // required contents of the user's files, and details that the source does not
                     // state; may be ""
};

// How closely a setting matches the method of a row.
enum class PublishedMatch {
  kNone,            // another method
  kOtherArguments,  // the same method with other arguments than the source states
  kMethodAlone,     // the same method; the source states no arguments
  kSame,            // the same method and arguments
};

// Returns the method with one more setting, the position interpolation of a run's tuned model:
// "pi(8)", "ntk(8)", or "yarn(8, context=4096, form=cream)", the form in the public code of PoSE
// and CREAM (arXiv 2309.10400, 2406.07138). The factor is the context length in `run` /
// original_context. Returns the method unchanged if it has no interpolation, or `run` states no
// longer context.
PublishedMethod MethodForRun(PublishedMethod method, const TuningRecipe& run);

// Returns how closely a run's setting, in canonical form, matches a published method.
PublishedMatch MatchSetting(const std::string& setting, const PublishedMethod& method);

struct PublishedTable {
  std::string name;    // "mspoe-t2-mdqa"
  std::string source;  // "Zhang et al., ..., arXiv 2403.04797, Table 2"
  std::string title;
  std::string bos;      // begin-of-text tokens at the start of the prompts; "": not stated
  std::string unit;     // "%", "score", "perplexity"
  int64_t samples = 0;  // samples per cell according to the source; 0: not stated
  std::vector<std::string> columns;
  std::vector<std::string> rows;  // row labels; labels of several columns are joined by " / "
  // [row], or [column] if columns_are_models: name of the model; "": not named. Empty: the table
  // names no models.
  std::vector<std::string> models;
  bool columns_are_models = false;
  std::vector<std::vector<std::string>> cells;  // [row][column], as printed; "": empty cell
  std::vector<PublishedOutcome> outcomes;
  std::map<std::string, std::vector<std::string>>
      averages;  // for each column of averages, the columns that are averaged
  std::vector<PublishedNumber> numbers;
  std::map<std::string, PublishedMethod> methods;  // keyed by the end of row labels
  // Methods that differ by column: keyed by column, then by the end of row labels.
  std::map<std::string, std::map<std::string, PublishedMethod>> column_methods;
  std::map<std::string, TuningRecipe> recipes;  // keyed by the end of row labels
  std::vector<PublishedMark> marks;
  std::vector<std::string> notes;

  // Returns the cell as a number; NaN if the cell is empty or not a number.
  double Value(size_t row, size_t column) const;
  size_t ColumnIndex(std::string_view column) const;  // throws std::logic_error if unknown
  // Returns the known errors of a cell, including those of the whole row.
  std::vector<const PublishedMark*> MarksOf(size_t row, std::string_view column) const;
  const PublishedMethod& MethodOf(size_t row) const;
  const PublishedMethod& MethodOf(size_t row, const std::string& column) const;
  const TuningRecipe& RecipeOf(size_t row) const;  // empty: the row's model was not tuned
  // Returns the names of all models in the table without duplicates, in order of appearance.
  std::vector<std::string> ModelNames() const;
  // Returns the name of the model of a row or a cell; "" if the table does not name it.
  const std::string& ModelOf(size_t row) const;
  const std::string& ModelOf(size_t row, std::string_view column) const;
};

// Returns all tables of published results, in a fixed order.
const std::vector<PublishedTable>& PublishedTables();

// Returns the tables called `name` or "`name`-..." ("mspoe-t2": both halves of Table 2). If there
// is none, throws Error (usage), which lists the existing names.
std::vector<const PublishedTable*> FindPublishedTables(std::string_view name);

// A table row as a line: accuracy over gold positions (places), shown beside a sweep's lines.
struct PublishedLine {
  const PublishedTable* table = nullptr;
  std::string task;                // the published task, "kv:pairs=50"
  int64_t pieces = 0;              // number of pieces of that task
  std::string label;               // label of the table row
  std::string model;               // as returned by ModelOf for the row
  PublishedMethod method;          // as returned by MethodOf for the row
  TuningRecipe recipe;             // as returned by RecipeOf for the row
  std::vector<int64_t> places;     // 1-based
  std::vector<double> accuracy;    // [place]: share of samples, 0 to 1; NaN: empty cell
  std::vector<bool> marked;        // [place]: whether the cell has a known error
  std::vector<std::string> notes;  // [place]: known errors; "": none
  // [place]: number of samples behind the accuracy; 0: not stated, or known to be wrong.
  std::vector<int64_t> samples;
};

// Whether a run's `task` has the name and all stated parameter values of the published task.
bool IsPublishedTask(std::string_view published, std::string_view task);

// Returns the number of text pieces in `task`: the value of its parameter that `published`, a task
// of the same kind, states first ("kv:pairs=50": pairs); 0 if `task` does not state it.
int64_t PublishedPieces(std::string_view published, std::string_view task);

// Returns the rows of `table` with outcomes for a run's `task` (IsPublishedTask). Parameters that
// the table does not state, such as seed in "mdqa:documents=10,seed=3", are ignored.
std::vector<PublishedLine> PublishedLines(const PublishedTable& table, std::string_view task);

// Returns PublishedLines; if there are none, the rows for the same task with other parameters.
std::vector<PublishedLine> PublishedLinesOfKind(const PublishedTable& table, std::string_view task);

// Returns the contents of the files in data/published, by file name. Internal to data/.
const std::map<std::string, std::string>& PublishedFiles();

}  // namespace midscope
