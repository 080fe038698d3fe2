// SPDX-License-Identifier: MIT
// Reads a user's file of questions with retrieved documents, in the formats of retrieval logs.
// Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tasks/task.h"

namespace midscope {

struct OwnLine {
  std::string instruction;
  std::vector<std::string> pieces;  // documents; a gold one first, if any
  // Number of gold pieces. Tasks move the first one; the others keep their positions among the
  // rest. 0: the line states no gold piece, and no piece is moved.
  int64_t golds = 0;
  // 1-based ranks of the other gold pieces among all pieces except the first gold one, in the order
  // of the file; ascending.
  std::vector<int64_t> other_golds;
  std::string question;
  std::vector<std::string> answers;
  std::vector<std::string> classes;
  std::vector<TaskChoice> choices;  // without leading space; empty: none
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  GenerationRule generation;
};

// The number of the first document in the file's gold numbers.
enum class GoldFrom {
  kFile,  // inferred from the numbers in the file; an error if 0 and 1 both fit
  kZero,
  kOne,
};

struct OwnLineOptions {
  GoldFrom from = GoldFrom::kFile;
  bool gold_by_answer = false;  // in lines without gold, documents with an answer are gold
  int64_t documents = 0;        // maximum documents of a line; 0: all
};

struct OwnLines {
  std::vector<OwnLine> lines;
  // Notes for the user: guessed fields, fields without effect, omitted lines, lines whose gold
  // pieces contain none of the answers, and answers that the scorer's normaliser makes empty.
  std::vector<std::string> notes;
  // Whether lines with a gold piece have different numbers of pieces.
  bool different_lengths = false;
};

// Reads a JSONL file, plain or .gz, or a .csv file (csv_objects.h). OwnTaskHelp() lists fields,
// their other names and types. Omits lines without a gold piece if other lines have one. Throws
// Error (failure), which names the file, the line and the remedy, if a field is missing, has a
// wrong type or a probably mistyped name, if only some lines have choices, or if it is unclear
// whether gold numbers count from 0 or 1.
OwnLines ReadOwnLines(const std::string& path, const OwnLineOptions& options);

// OtherFieldNames returns alternative names of a field, for help: "documents, passages, ...".
// GuessedFieldNames returns names that are read only if a line has none of these.
std::string GuessedFieldNames(const std::string& field);
std::string OtherFieldNames(const std::string& field);
// Returns, for help, the names of fields that contain only gold documents (or only others).
std::string DocumentsPartNames(bool gold);
// Returns the fields of a document that may contain its text; the first existing one is read.
const std::vector<std::string>& TextFieldNames();

}  // namespace midscope
