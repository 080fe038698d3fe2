// SPDX-License-Identifier: MIT
// The data sets of LongBench (Bai et al. 2023, arXiv 2308.14508): prompts, numbers of new tokens
// and scores, unchanged from LongBench's public code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tasks/answer_scoring.h"

namespace midscope {

struct LongBenchFormat {
  std::string dataset;
  std::string group;   // group in the published table: "single-document QA"
  std::string prompt;  // contains {context} once and {input} at most once
  bool chat_template;  // false for the few-shot and code sets
  GenerationRule generation;
};

// Returns 18 of LongBench's 21 data sets. The scores of multifieldqa_zh, dureader and vcsum would
// need segmentation of Chinese words.
const std::vector<LongBenchFormat>& LongBenchFormats();

// Returns the data set named `dataset`; null if there is none.
const LongBenchFormat* FindLongBenchFormat(std::string_view dataset);

}  // namespace midscope
