// SPDX-License-Identifier: MIT
// Attention knockout: chosen rows do not see a passage.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/intervention/term_form.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::block {
namespace {

struct Block {
  ChosenRows from;
  TokenSpan to;
  LayerSet layers;
  std::vector<HeadName> heads = {HeadName::All()};
  bool operator==(const Block&) const = default;
};

BoundArgument<Block> BlockToArgument() {
  Parameter to = DescribedSpan();
  to.name = "to";
  to.help = "What they do not see: a passage by name (gold), or tokens.";
  return {std::move(to),
          [](Block& value, const TextArgument& argument, const Parameter&) {
            value.to = ReadSpan(argument);
          },
          [](const Block& value, const Parameter&) { return SpanText(value.to); }};
}

void Resolve(Block& block, const SpanResolver& resolver) {
  block.to = resolver.tokens(block.to);
  ResolveRows(block.from, resolver);
}

// A row always sees itself, so rows of the passage still see the passage's later part from their
// own token on.
void Apply(const Block& block, const TermPlans& plans) {
  CheckSpan(block.to, block.layers, plans);
  const RowRange rows = RowsOf(block.from, block.layers, plans);
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

TermType Type() {
  return MakeTerm<Block>(
      {.name = "block",
       .summary =
           "Attention knockout: rows do not see a passage; the other keys take its weight. A "
           "row always sees itself.",
       .source = "Geva et al. 2023, arXiv 2304.14767: by windows of layers. Here also by head.",
       .arguments = {RequiredArgument(
                         ChosenRowsArgument<&Block::from>("from", "The rows that do not see it")),
                     BlockToArgument(), LayersArgument<Block>(),
                     HeadSetArgument<Block>("Heads that do not see it.")},
       .correct_example = "block(from=last, to=gold)",
       .examples = {"block(from=last, to=gold)", "block(from=question, to=gold, layers=8-12)"},
       .small_example = "block(from=last, to=gold)"},
      Apply, {.resolve = Resolve});
}

}  // namespace midscope::block
