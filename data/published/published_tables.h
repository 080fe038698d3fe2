// SPDX-License-Identifier: MIT
// Tables of published results as data (data/published): with their sources, and with what is known
// to be wrong in them. Numbers are as printed; nothing is corrected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

enum class PublishedMarkKind {
  kSamples,        // the number can't come from so many samples
  kAverage,        // the printed average is not that of the cells
  kSum,            // a printed difference is not that of the cells
  kCopy,           // suspected copy error
  kTransposition,  // suspected exchange of digits
  kDeparture,      // paper and public code differ
};

// What is known about a cell, or about a whole row where `column` is "".
struct PublishedMark {
  std::string row;
  std::string column;
  PublishedMarkKind kind = PublishedMarkKind::kCopy;
  std::string note;
};

// Columns that are outcomes by place of the gold piece.
struct PublishedOutcome {
  std::string task;                  // as --task takes it: "mdqa:documents=10"
  std::vector<std::string> columns;  // one a place
  std::vector<int64_t> places;       // 1-based ranks of the gold piece
  std::string rows;                  // those whose label begins so; "": all
};

// What a row of a table was run with.
struct PublishedMethod {
  std::string term;                   // "none", "pi", "ms-poe", ...; "": none of this program's
  std::vector<std::string> settings;  // canonical; several where paper and code differ. Empty: the
                                      // source names the method and not its arguments
};

// How a setting stands to a row.
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
  std::string bos;      // which begin-of-text tokens its prompts had; "": the source does not say
  std::string unit;     // "%", "score", "perplexity"
  int64_t samples = 0;  // behind each cell as the source says; 0: it does not say
  std::vector<std::string> columns;
  std::vector<std::string> rows;                // labels, their parts joined by " / "
  std::vector<std::vector<std::string>> cells;  // [row][column], as printed; "" where there is none
  std::vector<PublishedOutcome> outcomes;
  std::map<std::string, std::vector<std::string>> averages;  // column: those that it is the mean of
  std::map<std::string, PublishedMethod> methods;            // by the end of a row's label
  std::vector<PublishedMark> marks;
  std::vector<std::string> notes;

  // NaN where the cell is empty or no number.
  double Value(size_t row, size_t column) const;
  size_t ColumnIndex(std::string_view column) const;  // throws std::logic_error for an unknown one
  // The marks of a cell, with those of its row.
  std::vector<const PublishedMark*> MarksOf(size_t row, std::string_view column) const;
  const PublishedMethod& MethodOf(size_t row) const;
};

// All of them, in a fixed order.
const std::vector<PublishedTable>& PublishedTables();

// Those of that name, or whose name begins with it and a "-" ("mspoe-t2": both halves of Table 2).
// Throws Error (usage), with the names that there are, where there is none.
std::vector<const PublishedTable*> FindPublishedTables(std::string_view name);

// A row of a table as a line over places, to be drawn or printed beside a sweep's.
struct PublishedLine {
  const PublishedTable* table = nullptr;
  std::string task;                // the published one, "kv:pairs=50"
  int64_t pieces = 0;              // of that task
  std::string label;               // the row's
  PublishedMethod method;          // MethodOf the row
  std::vector<int64_t> places;     // 1-based
  std::vector<double> accuracy;    // share of samples, 0 to 1; NaN where there is none
  std::vector<bool> marked;        // whether something is known about the cell
  std::vector<std::string> notes;  // what is known, one a place; "" for nothing
};

// How many pieces `task` says it has by the parameter that a published task of its kind states
// ("kv:pairs=50": pairs); 0 where it does not say.
int64_t PublishedPieces(std::string_view published, std::string_view task);

// Lines of `table` for a task with as many pieces ("mdqa:documents=10,seed=3" is one); empty where
// it has none. Other parameters of the task do not matter.
std::vector<PublishedLine> PublishedLines(const PublishedTable& table, std::string_view task);

// The same, but where the table has the task with other numbers of pieces alone, the lines of
// those.
std::vector<PublishedLine> PublishedLinesOfKind(const PublishedTable& table, std::string_view task);

}  // namespace midscope
