// SPDX-License-Identifier: MIT
// Reads files with lists of attention heads, in the formats of published papers' code.
#pragma once

#include <string_view>
#include <vector>

#include "core/intervention/intervention.h"

namespace midscope {

// The prefix of an argument's value that names a file with a list of heads.
inline constexpr std::string_view kHeadFileMark = "file:";

// Returns the heads of "NAME", "NAME:top:20" (the 20 largest scores; among equal scores the lower
// layer and head), "NAME:least:0.5" (scores >= 0.5) or "NAME:below:0.5" (scores < 0.5); sorted,
// without duplicates. Files:
//   {"16-19": [0.9, 0.8], ...}   scores of layer 16, head 19, whose mean counts (Retrieval_Head,
//                                head_score/*.json)
//   {"16": [19, 3], ...}         heads of layer 16, in the file's order (PASTA, config/head_config)
//   attn_head_set: "16-19,3-0"   in YAML, in the file's order (QRHead, configs/*.yaml)
//   rows of numbers              a score for every key head, one row per layer (DuoAttention,
//                                full_attention_heads.tsv); these are key heads, "L16G2"
// Throws Error (usage) if the file cannot be read or has none of these formats, if it has scores
// and none of the three choices is given, if `least` or `below` is given and it has no scores, or
// if no head is left.
std::vector<HeadName> ReadHeadSetFile(std::string_view name);

}  // namespace midscope
