// SPDX-License-Identifier: MIT
// A task over one text of a user, in which a marked gold piece moves among other marked pieces.
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
  // Two or more pieces, in the order of the text, without overlap. Span names are ignored.
  std::vector<ByteSpan> pieces;
  ByteSpan gold;                // inside one of the pieces, which moves
  std::vector<ByteSpan> spans;  // other passages, each in one piece or between two
  std::string answer;           // follows the text; with leading space; may be empty
};

// Makes a task without a name, with one sample; a place is the 1-based rank of the gold piece. The
// text before, between and after the pieces stays; the other pieces keep their order. A sample's
// spans are "piece N" (N: rank in the sample's text), "gold" and the other passages. Throws Error
// (usage) if pieces are too few, empty, out of order or beyond the text, or if the gold or another
// passage is not inside one piece or between two.
std::unique_ptr<Task> MakePiecesTask(PiecesText text);

// Returns the byte spans of a text's paragraphs (separated by blank lines), without those of only
// white space.
std::vector<ByteSpan> ParagraphPieces(std::string_view text);

}  // namespace midscope
