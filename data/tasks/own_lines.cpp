// SPDX-License-Identifier: MIT
#include "data/tasks/own_lines.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/csv_objects.h"
#include "data/formats/json_lines.h"
#include "data/scorers/answer_text.h"
#include "data/tasks/own_line_fields.h"

namespace midscope {
namespace {

bool HasGold(const RawLine& raw) { return !raw.gold.numbers.empty() || !raw.gold.marked.empty(); }

// Throws Error unless either all lines have choices, with the same rule, or no line has.
void CheckAlike(const std::vector<RawLine>& lines) {
  const RawLine& first = lines.front();
  for (const RawLine& raw : lines) {
    if (raw.line.choices.empty() != first.line.choices.empty() ||
        raw.line.choice_rule != first.line.choice_rule) {
      throw Failure(
          raw.thing,
          "it must have choices, by the same rule, if and only if the first line has them");
    }
  }
}

// Whether one of the line's answers occurs in the document `piece`, both after SQuAD's
// normalisation.
bool HoldsAnswer(const OwnLine& line, const std::string& piece) {
  const std::string text = " " + NormaliseAnswer(piece) + " ";
  return std::any_of(line.answers.begin(), line.answers.end(), [&](const std::string& answer) {
    const std::string normal = NormaliseAnswer(answer);
    return normal.empty() ? piece.find(answer) != std::string::npos
                          : text.find(normal) != std::string::npos;
  });
}

// In lines that state no gold document, marks each document that contains an answer as gold.
void MarkAnswers(std::vector<RawLine>& lines) {
  for (RawLine& raw : lines) {
    if (HasGold(raw)) continue;
    for (size_t i = 0; i < raw.line.pieces.size(); ++i) {
      if (HoldsAnswer(raw.line, raw.line.pieces[i])) raw.gold.marked.push_back(i);
    }
  }
}

// Removes the lines without an answer and adds a note. Throws Error if no lines are left.
void LeaveOutUnanswered(const std::string& path, std::vector<RawLine>& lines,
                        std::vector<std::string>& notes) {
  const auto is_unanswered = [](const RawLine& raw) { return raw.is_unanswered; };
  const auto first = std::find_if(lines.begin(), lines.end(), is_unanswered);
  if (first == lines.end()) return;
  const std::string thing = first->thing;
  const auto all = std::ssize(lines);
  std::erase_if(lines, is_unanswered);
  if (lines.empty())
    throw Failure(path, "no line has an answer", "Write the answers into the lines");
  notes.push_back(
      fmt::format("{}: {} of {} lines are left out, because they have no answer; the "
                  "first is {}",
                  path, all - std::ssize(lines), all, thing));
}

// Removes the lines without a gold document if other lines have one, and adds a note. Throws Error
// if gold documents are named but no line contains one of these.
void LeaveOutLinesWithoutGold(const std::string& path, bool by_answer, std::vector<RawLine>& lines,
                              std::vector<std::string>& notes) {
  const auto first = std::find_if(lines.begin(), lines.end(), std::not_fn(HasGold));
  if (first == lines.end()) return;
  const std::string thing = first->thing;
  if (std::none_of(lines.begin(), lines.end(), HasGold)) {
    if (!first->gold.missing.empty()) {
      if (first->line.pieces.empty()) {
        throw Failure(thing, "it names a gold document but has no documents",
                      "Rename the field with the documents to 'documents'");
      }
      throw Failure(thing,
                    "its gold " + Quote(first->gold.missing) +
                        " is neither the identifier nor the text of one of its documents, and no "
                        "other line has its gold",
                    "midscope help jsonl shows an example line");
    }
    if (by_answer) {
      throw Failure(path, "no document contains an answer of its line", "Leave gold=answer out");
    }
    if (std::ssize(first->line.pieces) < 2) return;
    notes.push_back(path +
                    ": no line states its gold document, so documents stay where they are and "
                    "there is one place. To move the first one that contains an answer: --task "
                    "jsonl:gold=answer,file=" +
                    path);
    return;
  }
  const auto all = std::ssize(lines);
  std::erase_if(lines, std::not_fn(HasGold));
  notes.push_back(fmt::format(
      "{}: {} of {} lines are left out, because their gold document {}; the first is {}", path,
      all - std::ssize(lines), all,
      by_answer ? "is not stated and none contains an answer"
                : "is not stated or not among their documents",
      thing));
}

bool GoldHoldsAnswer(const RawLine& raw, int64_t from) {
  const auto holds = [&](size_t piece) {
    return piece < raw.line.pieces.size() && HoldsAnswer(raw.line, raw.line.pieces[piece]);
  };
  return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(),
                     [&](int64_t number) { return holds(static_cast<size_t>(number - from)); }) ||
         std::any_of(raw.gold.marked.begin(), raw.gold.marked.end(), holds);
}

// Returns the first line with a gold number outside its documents if they are counted from `from`;
// null if there is none.
const RawLine* Outside(const std::vector<RawLine>& lines, int64_t from) {
  const auto outside = [from](const RawLine& raw) {
    return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(), [&](int64_t number) {
      return number < from || number - from >= std::ssize(raw.line.pieces);
    });
  };
  const auto found = std::find_if(lines.begin(), lines.end(), outside);
  return found == lines.end() ? nullptr : &*found;
}

// Returns 0 or 1, from which gold numbers count documents: `from` or, with kFile, the only one that
// fits all lines. Throws Error if gold numbers fit neither or both.
int64_t FirstNumber(const std::string& path, const std::vector<RawLine>& lines, GoldFrom from) {
  if (std::all_of(lines.begin(), lines.end(),
                  [](const RawLine& raw) { return raw.gold.numbers.empty(); })) {
    return 1;
  }
  const std::map<GoldFrom, int64_t> given = {{GoldFrom::kZero, 0}, {GoldFrom::kOne, 1}};
  const auto stated = given.find(from);
  if (stated != given.end()) {
    if (const RawLine* raw = Outside(lines, stated->second)) {
      throw Failure(
          raw->thing,
          fmt::format("its gold is none of its {}, counted from {}",
                      CountText(std::ssize(raw->line.pieces), "document"), stated->second),
          "Correct the number, or gold_from");
    }
    return stated->second;
  }
  const RawLine* not_from_zero = Outside(lines, 0);
  const RawLine* not_from_one = Outside(lines, 1);
  if (not_from_zero && not_from_one) {
    throw Failure(not_from_one->thing,
                  "its gold is counted from 0, that of " + not_from_zero->thing + " from 1",
                  "Count from 1, or from 0, in all lines");
  }
  if (not_from_zero) return 1;
  if (not_from_one) return 0;
  const auto count = [&](int64_t number) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const RawLine& raw) { return GoldHoldsAnswer(raw, number); });
  };
  const auto by_zero = count(0);
  const auto by_one = count(1);
  const int likelier = by_zero > by_one ? 0 : 1;
  // In three lines or more, the answers decide if nearly all gold documents of one reading contain
  // one, and at most half as many of the other.
  constexpr size_t kFewestLines = 3;
  constexpr double kNearlyAll = 0.9;
  const auto [fewer, more] = std::minmax(by_zero, by_one);
  if (lines.size() >= kFewestLines &&
      static_cast<double>(more) >= kNearlyAll * static_cast<double>(lines.size()) &&
      fewer * 2 <= more) {
    return likelier;
  }
  throw Failure(
      path,
      fmt::format("its gold numbers fit documents counted from 0 and from 1. The gold document "
                  "contains an answer in {} of {} lines by the first and in {} by the second",
                  by_zero, lines.size(), by_one),
      fmt::format("Write \"gold_from\": {} into the first line, or --task "
                  "jsonl:gold_from={},file={}",
                  likelier, likelier, path));
}

// Removes pieces that are not gold, from the end, until `most` are left. `golds`: indices.
void KeepPieces(size_t most, std::vector<std::string>& pieces, std::vector<size_t>& golds) {
  for (size_t i = pieces.size(); i-- > 0 && pieces.size() > most;) {
    if (std::find(golds.begin(), golds.end(), i) != golds.end()) continue;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t& gold : golds) {
      if (gold > i) --gold;
    }
  }
}

// Moves a line's first gold piece to the front and keeps `most` pieces (0: all), as for OwnLine.
void MoveGoldFirst(int64_t first_number, int64_t most, RawLine& raw) {
  std::vector<size_t> golds = raw.gold.marked;
  for (const int64_t number : raw.gold.numbers) {
    golds.push_back(static_cast<size_t>(number - first_number));
  }
  OwnLine& line = raw.line;
  if (most > 0) KeepPieces(static_cast<size_t>(most), line.pieces, golds);
  if (golds.empty()) return;
  const size_t moved = golds.front();
  line.golds = std::ssize(golds);
  const auto begin = line.pieces.begin();
  const auto at = begin + static_cast<int64_t>(moved);
  std::rotate(begin, at, at + 1);
  for (size_t i = 1; i < golds.size(); ++i) {
    line.other_golds.push_back(static_cast<int64_t>(golds[i] + (golds[i] < moved ? 1 : 0)));
  }
  std::sort(line.other_golds.begin(), line.other_golds.end());
}

// Adds the notes that depend on all lines. Pieces must still be in the order of the file.
void AddNotes(const std::string& path, const std::vector<RawLine>& lines, int64_t first_number,
              const FieldUse& use, std::vector<std::string>& notes) {
  const auto joined = [](const std::set<std::string>& texts) {
    return Joined(std::vector<std::string>(texts.begin(), texts.end()));
  };
  if (!use.guessed.empty()) notes.push_back(path + ": read " + joined(use.guessed));
  if (!use.ignored.empty()) {
    const bool has_documents = std::any_of(
        lines.begin(), lines.end(), [](const RawLine& raw) { return !raw.line.pieces.empty(); });
    notes.push_back(
        path + ": fields without effect: " + joined(use.ignored) +
        (has_documents ? "" : "; no line has documents, so a prompt is a question alone"));
  }
  for (const RawLine& raw : lines) {
    const auto& answers = raw.line.answers;
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const std::string& answer) {
      return IsNormalisedAway(raw.line.generation.metric, answer);
    });
    if (found == answers.end()) continue;
    notes.push_back(raw.thing + ": the scorer's normaliser leaves nothing of the answer " +
                    Quote(*found) +
                    "; such answers are compared with generated text as they are, word by word");
    break;  // one note suffices for thousands of lines
  }
  if (!HasGold(lines.front()) || !lines.front().line.choices.empty()) return;
  int64_t without = 0;
  const RawLine* first = nullptr;
  for (const RawLine& raw : lines) {
    if (GoldHoldsAnswer(raw, first_number)) continue;
    ++without;
    if (first == nullptr) first = &raw;
  }
  if (first == nullptr) return;
  notes.push_back(
      fmt::format("{}: in {} of {} lines no answer occurs in a gold document; the first is {}",
                  path, without, lines.size(), first->thing));
}

}  // namespace

OwnLines ReadOwnLines(const std::string& path, const OwnLineOptions& options) {
  std::vector<RawLine> raws;
  FieldUse use;
  GoldFrom from = options.from;
  const auto read = [&](const JsonFields& fields) {
    raws.push_back(ReadOwnLine(fields, use));
    if (!fields.Find("gold_from")) return;
    const GoldFrom stated =
        Integer(fields, "gold_from", 0, 1, 1) == 0 ? GoldFrom::kZero : GoldFrom::kOne;
    if (from != GoldFrom::kFile && from != stated) {
      fields.Fail("has another gold_from than the task or an earlier line states");
    }
    from = stated;
  };
  if (path.ends_with(".csv")) {
    ForEachCsvObject(path, read);
  } else {
    ForEachJsonLine(path, read);
  }
  OwnLines own;
  LeaveOutUnanswered(path, raws, own.notes);
  CheckAlike(raws);
  if (options.gold_by_answer) MarkAnswers(raws);
  LeaveOutLinesWithoutGold(path, options.gold_by_answer, raws, own.notes);
  const int64_t first_number = FirstNumber(path, raws, from);
  AddNotes(path, raws, first_number, use, own.notes);
  for (RawLine& raw : raws) MoveGoldFirst(first_number, options.documents, raw);
  const size_t first_length = raws.front().line.pieces.size();
  for (RawLine& raw : raws) {
    const bool differs = raw.line.golds > 0 && raw.line.pieces.size() != first_length;
    own.different_lengths = own.different_lengths || differs;
    own.lines.push_back(std::move(raw.line));
  }
  return own;
}

}  // namespace midscope
