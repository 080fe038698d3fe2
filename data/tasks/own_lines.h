// SPDX-License-Identifier: MIT
// Reads a user's questions with their documents, as retrieval logs have them. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tasks/task.h"

namespace midscope {

struct OwnLine {
  std::string instruction;
  std::vector<std::string> pieces;  // the gold one first, if there is one
  // Number of gold pieces. The first one is moved; the others keep their places among the rest. 0:
  // the line states no gold piece, and its pieces stay where they are.
  int64_t golds = 0;
  // 1-based ranks, as in the file, of the second and later gold pieces among the pieces without the
  // first one, in ascending order.
  std::vector<int64_t> other_golds;
  std::string question;
  std::vector<std::string> answers;
  std::vector<std::string> classes;
  std::vector<TaskChoice> choices;  // without leading space; empty: none
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  GenerationRule generation;
};

// The number that the file gives to the first piece of a line.
enum class GoldFrom {
  kFile,  // as the numbers in the file show it; an error if they fit both
  kZero,
  kOne,
};

struct OwnLineOptions {
  GoldFrom from = GoldFrom::kFile;
  bool gold_by_answer = false;  // the documents with an answer are gold in lines that state none
  int64_t documents = 0;        // the most documents of a line; 0: all
};

struct OwnLines {
  std::vector<OwnLine> lines;
  // Notes about the file: guessed fields, fields without effect, lines that are left out, lines
  // whose gold pieces contain none of the answers, answers of which the scorer's normaliser leaves
  // nothing.
  std::vector<std::string> notes;
  // Whether lines with a gold piece have different numbers of pieces.
  bool different_lengths = false;
};

// Reads a JSONL file, plain or .gz, or a .csv file (csv_objects.h). The fields, their other names
// and their types are those of OwnTaskHelp(). Lines without a gold piece are left out if others
// have one. Throws Error (failure) that names the file, the line and the remedy: a field is
// missing, has another type or a name that is nearly a known one; lines differ in whether they have
// choices; or the gold numbers fit neither or both ways of counting.
OwnLines ReadOwnLines(const std::string& path, const OwnLineOptions& options);

// Returns the alternative names of fields, for help: "documents, passages, ...", and those that are
// read if none of these is there.
std::string GuessedFieldNames(const std::string& field);
std::string OtherFieldNames(const std::string& field);
// Returns the names of fields that have a part of the documents: the gold ones, or others.
std::string DocumentsPartNames(bool gold);
// Returns the fields from which the text of a document is read; the first that it has counts.
const std::vector<std::string>& TextFieldNames();

}  // namespace midscope
