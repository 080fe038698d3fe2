// SPDX-License-Identifier: MIT
#include "data/tasks/own_lines.h"

#include <algorithm>
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

// Throws unless the lines agree in whether they have a gold piece and choices.
void CheckAlike(const std::vector<RawLine>& lines) {
  const RawLine& first = lines.front();
  for (const RawLine& raw : lines) {
    if (HasGold(raw) != HasGold(first)) {
      throw Failure(raw.thing, "it must have a gold if and only if the first line has one",
                    "Leave out the lines without one");
    }
    if (raw.line.choices.empty() != first.line.choices.empty() ||
        raw.line.choice_rule != first.line.choice_rule) {
      throw Failure(
          raw.thing,
          "it must have choices, by the same rule, if and only if the first line has them");
    }
  }
}

// Whether one of the answers occurs in the piece, after the normalisation that SQuAD's scorer
// applies to both.
bool HoldsAnswer(const OwnLine& line, const std::string& piece) {
  const std::string text = " " + NormaliseAnswer(piece) + " ";
  return std::any_of(line.answers.begin(), line.answers.end(), [&](const std::string& answer) {
    const std::string normal = NormaliseAnswer(answer);
    return normal.empty() ? piece.find(answer) != std::string::npos
                          : text.find(normal) != std::string::npos;
  });
}

bool GoldHoldsAnswer(const RawLine& raw, int64_t from) {
  const auto holds = [&](size_t piece) {
    return piece < raw.line.pieces.size() && HoldsAnswer(raw.line, raw.line.pieces[piece]);
  };
  return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(),
                     [&](int64_t number) { return holds(static_cast<size_t>(number - from)); }) ||
         std::any_of(raw.gold.marked.begin(), raw.gold.marked.end(), holds);
}

// Returns the first line with a gold number that counting from `from` excludes; null if there is
// none.
const RawLine* Outside(const std::vector<RawLine>& lines, int64_t from) {
  const auto outside = [from](const RawLine& raw) {
    return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(), [&](int64_t number) {
      return number < from || number - from >= std::ssize(raw.line.pieces);
    });
  };
  const auto found = std::find_if(lines.begin(), lines.end(), outside);
  return found == lines.end() ? nullptr : &*found;
}

// Returns the number of the first piece, as far as the numbers decide it. Throws Error.
int64_t FirstNumber(const std::string& path, const std::vector<RawLine>& lines, GoldFrom from) {
  if (lines.front().gold.numbers.empty()) return 1;
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
  throw Failure(
      path,
      fmt::format("its gold numbers fit documents counted from 0 and from 1. The gold document "
                  "contains an answer in {} of {} lines by the first and in {} by the second",
                  count(0), lines.size(), count(1)),
      "Write \"gold_from\": 1 (or 0) into the first line, or --task jsonl:gold_from=1,file=" +
          path);
}

// Orders the pieces and golds of a line as OwnLine states them.
void MoveGoldFirst(int64_t first_number, RawLine& raw) {
  if (!HasGold(raw)) return;
  std::vector<size_t> golds = raw.gold.marked;
  for (const int64_t number : raw.gold.numbers) {
    golds.push_back(static_cast<size_t>(number - first_number));
  }
  OwnLine& line = raw.line;
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

// Adds the notes that need all lines, which still have their pieces in the order of the file.
void AddNotes(const std::string& path, const std::vector<RawLine>& lines, int64_t first_number,
              const std::set<std::string>& ignored, std::vector<std::string>& notes) {
  if (!ignored.empty()) {
    notes.push_back(path + ": fields without effect: " +
                    Joined(std::vector<std::string>(ignored.begin(), ignored.end())));
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
    break;  // a file may have thousands of such lines
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

OwnLines ReadOwnLines(const std::string& path, GoldFrom from) {
  std::vector<RawLine> raws;
  std::set<std::string> ignored;
  const auto read = [&](const JsonFields& fields) {
    raws.push_back(ReadOwnLine(fields, ignored));
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
  CheckAlike(raws);
  const int64_t first_number = FirstNumber(path, raws, from);
  OwnLines own;
  AddNotes(path, raws, first_number, ignored, own.notes);
  const size_t first_length = raws.front().line.pieces.size();
  for (RawLine& raw : raws) {
    MoveGoldFirst(first_number, raw);
    const bool differs = raw.line.golds > 0 && raw.line.pieces.size() != first_length;
    own.different_lengths = own.different_lengths || differs;
    own.lines.push_back(std::move(raw.line));
  }
  return own;
}

}  // namespace midscope
