// SPDX-License-Identifier: MIT
// Makes heads see only the first and the last keys.
#include <vector>

#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::streaming {
namespace {

constexpr double kMostStreamedTokens = 1 << 24;

struct Streaming {
  std::vector<HeadName> heads = {HeadName::All()};
  int64_t sink = 64;
  int64_t recent = 256;
  LayerSet layers;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Streaming&) const = default;
};

void Apply(const Streaming& edit, const TermPlans& plans) {
  ForLayersAndHeads(edit.layers, edit.heads, plans,
                    [&](AttentionPlan& plan, const LayerHeads& heads) {
                      plan.edits.streaming.push_back(
                          {RowsOf(edit.rows, plans.prompt_tokens), edit.sink, edit.recent, heads});
                    });
}

}  // namespace

TermType Type() {
  return MakeTerm<Streaming>(
      {.name = "streaming",
       .summary = "Streaming heads: they see the first `sink` tokens and the last `recent` ones, "
                  "their own included; the keys between are hidden from them. Rows run one by one.",
       .source =
           "Xiao et al. 2023, arXiv 2309.17453; by head: DuoAttention, Xiao et al. 2024, arXiv "
           "2410.10819, whose lists heads=file:full_attention_heads.tsv:below:0.5 reads.",
       .arguments = {HeadSetArgument<Streaming>("Heads that see so little."),
                     NumberArgument<&Streaming::sink>("sink", "First tokens that they see.",
                                                      {0, kMostStreamedTokens}, 64, "tokens"),
                     NumberArgument<&Streaming::recent>(
                         "recent", "Last tokens that a row sees, its own included.",
                         {1, kMostStreamedTokens}, 256, "tokens"),
                     LayersArgument<Streaming>(),
                     RowsArgument<Streaming>("Rows that see so little.", "all")},
       .examples = {"streaming(heads=[L12H3,L14G0], sink=4, recent=64)"},
       .small_example = "streaming(heads=L0H0, sink=2, recent=8)"},
      Apply);
}

}  // namespace midscope::streaming
