// SPDX-License-Identifier: MIT
// The last prompt token's attention on each pair, line or document, by layer.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// A numbered piece of a prompt: a span with a name "WORD NUMBER" ("pair 7"), as in the tasks.
struct Piece {
  int64_t number = 0;
  PromptSpan span;
};
// In the order of their numbers. Empty where no span is numbered.
std::vector<Piece> NumberedPieces(const Prompt& prompt);

// Record key_information, over the layers of --key-layers: piece_attention_sum and
// piece_attention_mean [layer, piece], means over heads; piece_attention_by_head [layer, head,
// piece]; piece_attention [piece], mean over layers and heads. Attribute gold_piece (0: none). Over
// several prompts, record key_information_map (below).
ProbeType KeyInformationProbe();

// Record key_information_map, of a stacked key_information: attention_map_sum, attention_map_mean
// [gold_place, piece], means over samples, layers and heads.
Record KeyInformationMap(const Record& stacked);

}  // namespace midscope
