// SPDX-License-Identifier: MIT
// Reads attention on the gold passage by its place from files of midscope probe over places, as in
// Fig. 1c of the channel paper (arXiv 2406.02536): one line per length.
#pragma once

#include "data/store/record_reader.h"
#include "probes/sweep/curve_points.h"

namespace midscope {

// Name of the measure: attention on the gold passage.
inline constexpr const char* kGoldAttention = "gold_attention";

// Whether the file has samples and places of probe key_information or span_attention.
bool HasGoldAttention(const RunReader& reader);

// Reads the last prompt token's attention on the gold piece from a file of midscope probe: summed
// over the piece's tokens, mean over heads and over the layers that key_information was run with
// (--key-layers); from span_attention, over all layers. Intervals of the mean over places:
// Student's t over samples; of the gap: bootstrap over samples. Throws Error (failure) if the file
// is damaged.
CurveInput ReadProbeCurve(const RunReader& reader);

}  // namespace midscope
