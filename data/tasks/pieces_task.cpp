// SPDX-License-Identifier: MIT
#include "data/tasks/pieces_task.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/scorers/answer_text.h"
#include "data/tasks/prompt_builder.h"

namespace midscope {
namespace {

constexpr const char* kThing = "pieces of own text";

bool IsInside(const ByteSpan& span, const ByteSpan& piece) {
  return span.begin >= piece.begin && span.end <= piece.end;
}

void CheckPieces(const PiecesText& text) {
  const auto size = static_cast<int64_t>(text.text.size());
  if (text.pieces.size() < 2) {
    throw UsageError(kThing, "there must be another piece that the gold one can move past",
                     "Mark at least two pieces");
  }
  int64_t end = 0;
  for (const ByteSpan& piece : text.pieces) {
    if (piece.begin < end || piece.end <= piece.begin || piece.end > size) {
      throw UsageError(
          kThing,
          fmt::format("bytes {} to {} are empty, overlap another piece or are beyond the text of "
                      "{} bytes",
                      piece.begin, piece.end, size),
          "Mark passages that stand one after another");
    }
    end = piece.end;
  }
}

class PiecesTask : public Task {
 public:
  explicit PiecesTask(PiecesText text) : own_(std::move(text)) {
    CheckPieces(own_);
    const auto holds_gold = [&](const ByteSpan& piece) { return IsInside(own_.gold, piece); };
    const auto found = std::find_if(own_.pieces.begin(), own_.pieces.end(), holds_gold);
    if (own_.gold.end <= own_.gold.begin || found == own_.pieces.end()) {
      throw UsageError(kThing, "none of them holds the passage that is marked as gold",
                       "Mark as gold a passage inside one piece");
    }
    gold_piece_ = static_cast<size_t>(found - own_.pieces.begin());
    own_.gold.name = "gold";
    own_.spans.push_back(own_.gold);
    Make(0, 1);  // throws if a passage in own_.spans is invalid
  }

  std::string name() const override { return {}; }
  int64_t pieces() const override { return static_cast<int64_t>(own_.pieces.size()); }
  std::optional<int64_t> samples() const override { return 1; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    TaskSample made;
    std::vector<ByteSpan> moved = own_.spans;
    std::vector<bool> found(moved.size(), false);
    // Appends bytes [begin, end) of the user's text to the prompt, with the passages in them.
    const auto copy = [&](int64_t begin, int64_t end) {
      const int64_t shift = static_cast<int64_t>(made.text.size()) - begin;
      for (size_t i = 0; i < moved.size(); ++i) {
        const ByteSpan& span = own_.spans[i];
        if (found[i] || span.begin < begin || span.end > end) continue;
        moved[i].begin = span.begin + shift;
        moved[i].end = span.end + shift;
        found[i] = true;
      }
      made.text.append(own_.text, static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    };
    const std::vector<size_t> order = OrderAt(place);
    int64_t before = 0;
    for (size_t slot = 0; slot < order.size(); ++slot) {
      copy(before, own_.pieces[slot].begin);
      const ByteSpan& piece = own_.pieces[order[slot]];
      const auto begin = static_cast<int64_t>(made.text.size());
      copy(piece.begin, piece.end);
      made.spans.push_back(
          {fmt::format("piece {}", slot + 1), begin, static_cast<int64_t>(made.text.size())});
      before = own_.pieces[slot].end;
    }
    copy(before, static_cast<int64_t>(own_.text.size()));
    for (size_t i = 0; i < moved.size(); ++i) {
      if (found[i]) continue;
      throw UsageError(kThing,
                       "the passage " + Quote(moved[i].name) + " begins in one and ends outside",
                       "Mark it inside one piece, or outside of all");
    }
    made.spans.insert(made.spans.end(), moved.begin(), moved.end());
    made.answer = own_.answer;
    made.answers = {StripText(own_.answer)};
    made.generation.own_answers = true;
    made.place = place;
    made.pieces = pieces();
    return made;
  }

 private:
  // Returns the indices of the pieces in the order of the prompt, with the gold one at `place`.
  std::vector<size_t> OrderAt(int64_t place) const {
    std::vector<size_t> order = {gold_piece_};
    for (size_t i = 0; i < own_.pieces.size(); ++i) {
      if (i != gold_piece_) order.push_back(i);
    }
    return WithFirstAt(std::move(order), place);
  }

  PiecesText own_;  // `spans` include the gold passage
  size_t gold_piece_ = 0;
};

}  // namespace

std::unique_ptr<Task> MakePiecesTask(PiecesText text) {
  return std::make_unique<PiecesTask>(std::move(text));
}

std::vector<ByteSpan> ParagraphPieces(std::string_view text) {
  std::vector<ByteSpan> pieces;
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  size_t begin = 0;  // offset of the paragraph
  size_t end = 0;    // offset after its last character
  for (size_t line = 0; line <= text.size();) {
    const size_t line_end = std::min(text.find('\n', line), text.size());
    const std::string_view words = text.substr(line, line_end - line);
    const bool blank = std::all_of(words.begin(), words.end(), is_space);
    if (blank && end > begin)
      pieces.push_back({"", static_cast<int64_t>(begin), static_cast<int64_t>(end)});
    if (blank) {
      begin = end = line_end + 1;
    } else {
      end = line_end;
      while (is_space(text[end - 1])) --end;
    }
    line = line_end + 1;
  }
  if (end > begin) pieces.push_back({"", static_cast<int64_t>(begin), static_cast<int64_t>(end)});
  return pieces;
}

}  // namespace midscope
