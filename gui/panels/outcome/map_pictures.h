// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of batches and curves with more than two axes: maps of pieces by gold place for every
// layer and head, of places by layer and by parameter, and the attention row of one head by gold
// place.
#pragma once

namespace midscope {

class FilePictures;

// Draws these records of the file:
// - key_information [sample, place, layer, piece]: pieces_by_layer, a map [gold place, piece] per
//   layer, averaged over samples and heads (Fig. 10 of arXiv 2406.02536); pieces_by_head_LN, the
//   same per head (Fig. 11), for every layer or for that of the requested head; gold_by_layer, a
//   map [layer, gold place] of the attention on the gold piece.
// - any measured array [place, layer, head]: ARRAY_by_place, a map [layer, head] per place.
// - outcome_curves: MEASURE_by_place, a map [place, parameter] per curve, for example for length
//   and
//   place.
// - last_query_attention [sample, place, layer, head, key]: attention_on_gold, each head's
//   attention on the gold, as the mean over samples and places; attention_LNHM_by_place, the head's
//   row per gold place, for the first sample (Fig. 4 and 6 of arXiv 2403.04797).
void RenderMaps(FilePictures& pictures);

}  // namespace midscope
