// SPDX-License-Identifier: MIT
// Passages about things that do not exist, so that the answers are in no training data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace midscope {

struct InventedPassage {
  std::string title;
  std::string text;
  std::string answer = {};  // to the same question about this passage's subject
};

struct InventedFacts {
  std::string question;  // about the first passage, written as NQ-open's are
  std::string answer;    // occurs in the first passage and, normalised or not, in no other
  std::vector<InventedPassage> passages;
};

// Distinct invented names of eight letters; at most 3072.
std::vector<std::string> InventNames(size_t count, SplitMix64& random);

inline constexpr int64_t kMostInventedPassages = 1000;

// Subjects of the passages that do not answer.
enum class OtherPassages {
  kOtherSubjects,  // the same fact of other subjects: other companies' founders
  kSameSubject,    // other facts of the question's subject: who led, bought or painted it
};

// All passages are of one kind (companies, towns or novels) and form, with names of their own. With
// kSameSubject only the first one states the requested fact, the others each one of eight others of
// the same kind of answer, with years that differ; the first passage and the question are those of
// kOtherSubjects.
InventedFacts InventFacts(int64_t passages, SplitMix64& random,
                          OtherPassages others = OtherPassages::kOtherSubjects);

}  // namespace midscope
