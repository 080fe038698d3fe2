// SPDX-License-Identifier: MIT
// Generates passages about invented things, so that no training data contain the answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace midscope {

struct InventedPassage {
  std::string title;
  std::string text;
  std::string answer = {};  // answer to the same question about this passage's subject
};

struct InventedFacts {
  std::string question;  // about the first passage, in the style of NQ-open
  std::string answer;    // occurs only in the first passage, even after normalisation
  std::vector<InventedPassage> passages;
};

// Returns `count` distinct invented names of eight letters; at most 3072.
std::vector<std::string> InventNames(size_t count, SplitMix64& random);

inline constexpr int64_t kMostInventedPassages = 1000;

// Subjects of the passages that do not contain the answer.
enum class OtherPassages {
  kOtherSubjects,  // the same fact about other subjects: other companies' founders
  kSameSubject,    // other facts about the question's subject: who led, bought or painted it
};

// All passages are about one kind of subject (companies, towns or novels), have the same form and
// use different names. With kSameSubject, only the first passage states the requested fact; each of
// the others states one of eight other facts with the same kind of answer, and different years. The
// first passage and the question are the same as with kOtherSubjects.
InventedFacts InventFacts(int64_t passages, SplitMix64& random,
                          OtherPassages others = OtherPassages::kOtherSubjects);

}  // namespace midscope
