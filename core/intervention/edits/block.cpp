// SPDX-License-Identifier: MIT
// Attention knockout: rows that do not see a passage.
#include <algorithm>
#include <vector>

#include "core/base/parameter_kinds.h"
#include "core/intervention/edits/edits.h"
#include "core/plan/edit_plans.h"

namespace midscope {
namespace {

struct Block {
  TokenSpan from;            // the rows, where they are a passage
  bool rows_chosen = false;  // they are `rows` instead
  RowChoice rows;
  TokenSpan to;
  LayerSet layers;
  std::vector<HeadName> heads = {HeadName::All()};
  bool operator==(const Block&) const = default;
};

Parameter DescribedBlockRows() { return DescribedRows("", "last"); }

bool IsBlockRows(const TextAtom& atom) {
  const Parameter rows = DescribedBlockRows();
  const bool chosen =
      std::find(rows.choices.begin(), rows.choices.end(), atom.text) != rows.choices.end();
  return !atom.quoted && (chosen || NumberedPart(rows, atom.text));
}

Parameter DescribedBlockSpan(const std::string& name, const std::string& help) {
  Parameter span = DescribedSpan();
  span.name = name;
  span.help = help;
  return span;
}

BoundArgument<Block> BlockFromArgument() {
  return {
      DescribedBlockSpan("from",
                         "The rows that do not see it: a passage by name (question) or as tokens "
                         "(400:600), or last, answer, last:N, all as in rows of other terms."),
      [](Block& value, const TextArgument& argument, const Parameter&) {
        value.rows_chosen = IsBlockRows(OnlyValue(argument));
        if (value.rows_chosen) {
          value.rows = ReadRows(argument, DescribedBlockRows());
        } else {
          value.from = ReadSpan(argument);
        }
      },
      [](const Block& value, const Parameter&) {
        if (value.rows_chosen) return RowsText(value.rows, DescribedBlockRows());
        // A passage of such a name stays one.
        const std::string text = SpanText(value.from);
        return IsBlockRows({text, 0}) ? '"' + text + '"' : text;
      }};
}

BoundArgument<Block> BlockToArgument() {
  return {DescribedBlockSpan("to", "What they do not see: a passage by name (gold), or tokens."),
          [](Block& value, const TextArgument& argument, const Parameter&) {
            value.to = ReadSpan(argument);
          },
          [](const Block& value, const Parameter&) { return SpanText(value.to); }};
}

void Resolve(Block& block, const SpanResolver& resolver) {
  block.to = resolver.tokens(block.to);
  if (!block.rows_chosen) block.from = resolver.tokens(block.from);
}

// A row sees itself in any case: rows of the passage see what is left of it.
void Apply(const Block& block, const EditPlans& plans) {
  CheckSpan(block.to, block.layers, plans);
  if (!block.rows_chosen) CheckSpan(block.from, block.layers, plans);
  const RowRange rows = block.rows_chosen ? RowsOf(block.rows, plans.prompt_tokens)
                                          : RowRange{block.from.begin, block.from.end};
  ForLayersAndHeads(
      block.layers, block.heads, plans, [&](AttentionPlan& plan, const LayerHeads& heads) {
        const int64_t first_within = std::max(rows.first, block.to.begin + 1);
        for (int64_t row = first_within; row < std::min(rows.last, block.to.end); ++row)
          plan.edits.hidden.push_back({{row, row + 1}, block.to.begin, row, heads});
        const RowRange behind{std::max(rows.first, block.to.end), rows.last};
        if (!behind.empty())
          plan.edits.hidden.push_back({behind, block.to.begin, block.to.end, heads});
      });
}

}  // namespace

EditType BlockEdit() {
  return MakeEdit<Block>(
      {.name = "block",
       .summary =
           "Attention knockout: rows do not see a passage; the other keys take its weight. A "
           "row always sees itself.",
       .source = "Geva et al. 2023, arXiv 2304.14767: by windows of layers. Here also by head.",
       .arguments = {BlockFromArgument(), BlockToArgument(), LayersArgument<Block>(),
                     HeadSetArgument<Block>("Heads that do not see it.")},
       .correct_example = "block(from=last, to=gold)",
       .examples = {"block(from=last, to=gold)", "block(from=question, to=gold, layers=8-12)"},
       .small_example = "block(from=last, to=gold)"},
      Apply, {.resolve = Resolve});
}

}  // namespace midscope
