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
  std::string answer = {};  // answer to the question for this passage's subject
};

struct InventedFacts {
  std::string question;  // about the first passage; style of NQ-open
  std::string answer;    // occurs only in the first passage, even after normalisation
  std::vector<InventedPassage> passages;
};

// Returns `count` distinct invented names of eight letters; at most 3072.
std::vector<std::string> InventNames(size_t count, SplitMix64& random);

inline constexpr int64_t kMostInventedPassages = 1000;

// Contents of the passages that do not contain the answer.
enum class OtherPassages {
  kOtherSubjects,  // the same fact about other subjects: founders of other companies
  kSameSubject,    // other facts about the question's subject: who led or bought it
};

// Returns a question and `passages` passages, of which the first contains the answer. All are about
// one kind of subject (companies, towns or novels), have the same form and different names. With
// kSameSubject, each passage except the first states one of eight other facts about the same
// subject with the same kind of answer, and different years. First passage and question do not
// depend on `others`.
InventedFacts InventFacts(int64_t passages, SplitMix64& random,
                          OtherPassages others = OtherPassages::kOtherSubjects);

}  // namespace midscope
