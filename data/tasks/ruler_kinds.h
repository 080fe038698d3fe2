// SPDX-License-Identifier: MIT
// The synthetic tasks of RULER (Hsieh et al. 2024, arXiv 2404.06654; scripts/data/synthetic of
// github.com/NVIDIA/RULER, read in a copy): templates, parameters and scores of the public code,
// with words, numbers and texts of our own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "data/tasks/task.h"

namespace midscope {

enum class RulerHaystack { kNoise, kEssay, kNeedles };
enum class RulerWord { kWords, kNumbers, kUuids };

// Hidden and requested values, by the names of the public code.
struct RulerNeedles {
  RulerHaystack haystack = RulerHaystack::kNoise;
  RulerWord key = RulerWord::kWords;
  RulerWord value = RulerWord::kNumbers;
  int64_t keys = 1;
  int64_t values = 1;   // of each key
  int64_t queries = 1;  // of the keys
};

// The haystack's words, repeated where more are needed; empty if the task has none.
struct RulerText {
  std::vector<std::string> words;
};

struct RulerRequest {
  SplitMix64 random;
  int64_t size = 0;    // units of the haystack
  int64_t depth = 50;  // percent, of the gold needle
  int64_t tokens = 0;  // what the prompt and its answer may have
  const RulerText& text;
};

struct RulerKind {
  std::string name;  // "niah_single_1"
  int64_t new_tokens = 128;
  int64_t smallest = 1;  // size
  // No tokenizer makes fewer tokens of a unit: bounds the search for the size.
  int64_t tokens_per_unit = 1;
  bool by_depth = false;
  RulerNeedles needles = {};
  // Text, spans, answer and answers of a prompt.
  TaskSample (*make)(const RulerKind& kind, const RulerRequest& request) = nullptr;
};

// niah_single_1 to 3, niah_multikey_1 to 3, niah_multivalue, niah_multiquery, vt, cwe, fwe.
const std::vector<RulerKind>& RulerKinds();

// The gold needle (the first of the first requested key) at the depth, the others where the seed
// puts them. Spans: "gold", "needle 1" ..., "question".
TaskSample MakeRulerNeedles(const RulerKind& kind, const RulerRequest& request);
// One chain of five variables in order among lines of noise, with an example in front, which has
// ten lines of noise (the public code fits it to 500 tokens).
TaskSample MakeRulerVariables(const RulerKind& kind, const RulerRequest& request);
// Ten words that occur more often than the others (30 and 3 times; 6 and once below 4096 tokens).
TaskSample MakeRulerCommonWords(const RulerKind& kind, const RulerRequest& request);
// Coded words whose frequencies fall as the square of the rank; the most frequent is "...".
TaskSample MakeRulerFrequentWords(const RulerKind& kind, const RulerRequest& request);

}  // namespace midscope
