// SPDX-License-Identifier: MIT
// The data sets of LongBench (Bai et al. 2023, arXiv 2308.14508): prompts, new tokens and scores of
// its public code, as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tasks/answer_scoring.h"

namespace midscope {

struct LongBenchFormat {
  std::string dataset;
  std::string group;   // under which the published table has it: "single-document QA"
  std::string prompt;  // with {context} and {input}, once each; {input} may be missing
  bool chat_template;  // false for the few-shot and code sets
  GenerationRule generation;
};

// 18 of the 21 sets: multifieldqa_zh, dureader and vcsum are scored over segmented Chinese words.
const std::vector<LongBenchFormat>& LongBenchFormats();

// Null if there is none of that name.
const LongBenchFormat* FindLongBenchFormat(std::string_view dataset);

}  // namespace midscope
