// SPDX-License-Identifier: MIT
// The synthetic tasks of RULER (Hsieh et al. 2024, arXiv 2404.06654; scripts/data/synthetic of
// github.com/NVIDIA/RULER, read in a copy), with the templates, parameters and scores of the public
// code, but with words, numbers and texts of Midscope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "data/tasks/task.h"

namespace midscope {

enum class RulerHaystack { kNoise, kEssay, kNeedles };
enum class RulerWord { kWords, kNumbers, kUuids };

// The parameters of a needle task, named as in RULER's public code.
struct RulerNeedles {
  RulerHaystack haystack = RulerHaystack::kNoise;
  RulerWord key = RulerWord::kWords;
  RulerWord value = RulerWord::kNumbers;
  int64_t keys = 1;
  int64_t values = 1;   // number of values per key
  int64_t queries = 1;  // number of requested keys
};

// The words of the essay haystack, repeated as needed; empty if the task needs no text.
struct RulerText {
  std::vector<std::string> words;
};

struct RulerRequest {
  SplitMix64 random;
  int64_t size = 0;    // length of the haystack: words, lines, ... by task
  int64_t depth = 50;  // depth of the gold needle, in percent
  int64_t tokens = 0;  // maximum number of tokens of prompt and answer
  const RulerText& text;
};

struct RulerKind {
  std::string name;  // "niah_single_1"
  int64_t new_tokens = 128;
  int64_t smallest = 1;  // minimum RulerRequest::size
  // Lower bound for tokens per unit of `size` with any tokenizer; limits the search for sizes.
  int64_t tokens_per_unit = 1;
  bool by_depth = false;
  RulerNeedles needles = {};
  // Makes a sample, of which only text, spans, answer and answers are set.
  TaskSample (*make)(const RulerKind& kind, const RulerRequest& request) = nullptr;
};

// Returns niah_single_1 to 3, niah_multikey_1 to 3, niah_multivalue, niah_multiquery, vt, cwe, fwe.
const std::vector<RulerKind>& RulerKinds();

// Makes a sample of a needle task: the gold needle (first value of the first requested key) at the
// requested depth, the others at random positions. Spans: "gold", "needle 1" ..., "question".
TaskSample MakeRulerNeedles(const RulerKind& kind, const RulerRequest& request);
// Makes a sample of variable tracking (vt): a chain of five variables, in order, among lines of
// noise, after an example with ten lines of noise (in the public code, with 500 tokens).
TaskSample MakeRulerVariables(const RulerKind& kind, const RulerRequest& request);
// Makes a sample of common words (cwe): a list in which ten words occur 30 times and the others 3
// times; below 4096 tokens, 6 times and once.
TaskSample MakeRulerCommonWords(const RulerKind& kind, const RulerRequest& request);
// Makes a sample of frequent words (fwe): coded words whose frequencies fall as 1 / rank^2. The
// most frequent word is "...".
TaskSample MakeRulerFrequentWords(const RulerKind& kind, const RulerRequest& request);

}  // namespace midscope
