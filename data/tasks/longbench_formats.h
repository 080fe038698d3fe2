// SPDX-License-Identifier: MIT
// The data sets of LongBench (Bai et al. 2023, arXiv 2308.14508): prompts, numbers of new tokens
// and scores, unchanged from its public code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tasks/answer_scoring.h"

namespace midscope {

struct LongBenchFormat {
  std::string dataset;
  std::string group;   // its group in the published table: "single-document QA"
  std::string prompt;  // contains {context} once and {input} at most once
  bool chat_template;  // false for the few-shot and code sets
  GenerationRule generation;
};

// 18 of the 21 sets; multifieldqa_zh, dureader and vcsum are missing, because their scores need
// segmented Chinese words.
const std::vector<LongBenchFormat>& LongBenchFormats();

// Returns null if there is no data set of that name.
const LongBenchFormat* FindLongBenchFormat(std::string_view dataset);

}  // namespace midscope
