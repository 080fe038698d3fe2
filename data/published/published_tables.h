// SPDX-License-Identifier: MIT
// Tables of published results as data (data/published), with their sources and known errors.
// Numbers are as printed; nothing is corrected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/published/tuning_recipe.h"

namespace midscope {

enum class PublishedMarkKind {
  kSamples,        // the number is impossible with that many samples
  kAverage,        // the printed average is not the mean of the cells
  kSum,            // a printed difference is not the difference of the cells
  kCopy,           // suspected copy error
  kTransposition,  // suspected exchange of digits
  kDeparture,      // paper and public code differ
};

// A known error of a cell, or of a whole row where `column` is "".
struct PublishedMark {
  std::string row;
  std::string column;
  PublishedMarkKind kind = PublishedMarkKind::kCopy;
  std::string note;
};

// Columns that are outcomes by place of the gold piece.
struct PublishedOutcome {
  std::string task;                  // in the form of --task: "mdqa:documents=10"
  std::vector<std::string> columns;  // one per place
  std::vector<int64_t> places;       // 1-based ranks of the gold piece
  std::string rows;                  // rows whose label begins with this; "": all
};

// The settings of a row of a table.
struct PublishedMethod {
  std::string term;                   // "none", "pi", "ms-poe", ...; "": none of this program's
  std::vector<std::string> settings;  // canonical; several where paper and code differ. Empty: the
                                      // source does not state the arguments
};

// A column that is not an outcome by place, and the number of a run that it is compared with.
struct PublishedNumber {
  std::string column;
  std::string task;               // in the form of --task; the run's may have more parameters
  std::vector<std::string> sets;  // data sets of the run whose mean it is; empty: the whole run
  std::string measure;            // "answered" (the share or score), "perplexity", "seconds"
  std::vector<int64_t> places;    // over which it is the mean; empty: all of the run's
  // Seconds have no stated unit in the source: both sides are divided by those of this row, and the
  // run's by those of its setting.
  std::string relative_to;
  std::string data;  // what the user's files must hold, and what the source leaves open; may be ""
};

// How a setting matches a row.
enum class PublishedMatch {
  kNone,            // another method
  kOtherArguments,  // the same method with other arguments than the source states
  kMethodAlone,     // the same method, of which the source states no arguments
  kSame,            // the whole setting
};

// `setting`: canonical.
PublishedMatch MatchSetting(const std::string& setting, const PublishedMethod& method);

struct PublishedTable {
  std::string name;    // "mspoe-t2-mdqa"
  std::string source;  // "Zhang et al., ..., arXiv 2403.04797, Table 2"
  std::string title;
  std::string bos;      // begin-of-text tokens of its prompts; "": not stated
  std::string unit;     // "%", "score", "perplexity"
  int64_t samples = 0;  // per cell according to the source; 0: not stated
  std::vector<std::string> columns;
  std::vector<std::string> rows;                // labels, their parts joined by " / "
  std::vector<std::vector<std::string>> cells;  // [row][column], as printed; "" if there is none
  std::vector<PublishedOutcome> outcomes;
  std::map<std::string, std::vector<std::string>> averages;  // column: those whose mean it is
  std::vector<PublishedNumber> numbers;
  std::map<std::string, PublishedMethod> methods;  // by the end of a row's label
  // By column, then by the end of a row's label: rows whose settings differ by column.
  std::map<std::string, std::map<std::string, PublishedMethod>> column_methods;
  std::map<std::string, TuningRecipe> recipes;  // of rows of tuned models, by the end of the label
  std::vector<PublishedMark> marks;
  std::vector<std::string> notes;

  // NaN if the cell is empty or no number.
  double Value(size_t row, size_t column) const;
  size_t ColumnIndex(std::string_view column) const;  // throws std::logic_error for an unknown one
  // The marks of a cell, with those of its row.
  std::vector<const PublishedMark*> MarksOf(size_t row, std::string_view column) const;
  const PublishedMethod& MethodOf(size_t row) const;
  const PublishedMethod& MethodOf(size_t row, const std::string& column) const;
  const TuningRecipe& RecipeOf(
      size_t row) const;  // empty: the row's model is not a tuned one of the source
};

// All of them, in a fixed order.
const std::vector<PublishedTable>& PublishedTables();

// The tables with that name, or whose name begins with it and a "-" ("mspoe-t2": both halves of
// Table 2). Throws Error (usage) with the existing names if there is none.
std::vector<const PublishedTable*> FindPublishedTables(std::string_view name);

// A row of a table as a line over places, to be drawn or printed beside a sweep's.
struct PublishedLine {
  const PublishedTable* table = nullptr;
  std::string task;                // the published one, "kv:pairs=50"
  int64_t pieces = 0;              // of that task
  std::string label;               // the row's
  PublishedMethod method;          // MethodOf the row
  TuningRecipe recipe;             // RecipeOf the row
  std::vector<int64_t> places;     // 1-based
  std::vector<double> accuracy;    // share of samples, 0 to 1; NaN if there is none
  std::vector<bool> marked;        // whether the cell has a known error
  std::vector<std::string> notes;  // known errors, one per place; "" for none
  // [place]: samples behind the number; 0: not stated, or impossible by a mark.
  std::vector<int64_t> samples;
};

// Whether a run of `task` is of the published task: all that the latter states is the same.
bool IsPublishedTask(std::string_view published, std::string_view task);

// The number of pieces in `task`, by the parameter that a published task of its kind has
// ("kv:pairs=50": pairs); 0 if it has none.
int64_t PublishedPieces(std::string_view published, std::string_view task);

// Lines of `table` for a task with as many pieces ("mdqa:documents=10,seed=3" is one); empty if it
// has none. Other parameters of the task are ignored.
std::vector<PublishedLine> PublishedLines(const PublishedTable& table, std::string_view task);

// As above; where the table has the task only with other numbers of pieces, returns their lines.
std::vector<PublishedLine> PublishedLinesOfKind(const PublishedTable& table, std::string_view task);

}  // namespace midscope
