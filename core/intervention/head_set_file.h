// SPDX-License-Identifier: MIT
// Lists of heads as they are published.
#pragma once

#include <string_view>
#include <vector>

#include "core/intervention/intervention.h"

namespace midscope {

// How the value of an argument begins that names such a file.
inline constexpr std::string_view kHeadFileMark = "file:";

// The heads of "NAME", "NAME:top:20" (the first 20, largest scores first; of equal ones the lower
// layer and head), "NAME:least:0.5" (scores from 0.5 on) or "NAME:below:0.5" (scores under 0.5);
// sorted, each once. Files:
//   {"16-19": [0.9, 0.8], ...}   scores of layer 16, head 19, whose mean counts (Retrieval_Head,
//                                head_score/*.json)
//   {"16": [19, 3], ...}         heads of layer 16, in the file's order (PASTA, config/head_config)
//   attn_head_set: "16-19,3-0"   in YAML, in the file's order (QRHead, configs/*.yaml)
//   rows of numbers              a score for every key head, one row per layer (DuoAttention,
//                                full_attention_heads.tsv); these are key heads, "L16G2"
// Throws Error (usage): the file cannot be read or is none of these; scores without one of the
// three choices, or `least` and `below` without scores; no head is left.
std::vector<HeadName> ReadHeadSetFile(std::string_view name);

}  // namespace midscope
