// SPDX-License-Identifier: MIT
// A user's own text in which one of several marked pieces, the gold one, moves among the others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/spans.h"
#include "data/tasks/task.h"

namespace midscope {

struct PiecesText {
  std::string text;
  // Two or more, in the order of the text, none overlapping the next; their names have no meaning.
  std::vector<ByteSpan> pieces;
  ByteSpan gold;                // inside one of the pieces, which then moves
  std::vector<ByteSpan> spans;  // other passages, each inside one piece or between two
  std::string answer;           // what follows the text, with its leading space; may be empty
};

// A task of one sample without a name; a place is the 1-based rank of the gold piece. The text
// before, between and behind the pieces keeps its place; the other pieces keep their order. Spans
// of a sample: "piece N" by their rank in the made text, "gold", and the others where they are now.
// Throws Error (usage): pieces that are too few, empty, out of order or beyond the text, a gold
// passage or another one that is not inside one piece or between two.
std::unique_ptr<Task> MakePiecesTask(PiecesText text);

// The paragraphs of a text (parted by blank lines) that have anything but white space, as pieces.
std::vector<ByteSpan> ParagraphPieces(std::string_view text);

}  // namespace midscope
