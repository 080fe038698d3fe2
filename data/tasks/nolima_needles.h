// SPDX-License-Identifier: MIT
// NoLiMa's sets of needles (Modarressi et al. 2025, arXiv 2502.05167), as they are published
// (needle_set*.json): a needle, questions that share no word with it, and what the placeholders
// {1}, {2} ... in them stand for in each test. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

// One question about one needle.
struct NoLiMaTest {
  std::string name;         // "0401_T08_C02_twohop", as the public code names its results
  std::string question_of;  // "onehop"
  std::string system;       // "": none
  std::string task_template;
  std::string needle;
  std::string question;
  std::string distractor;               // "": none
  std::vector<std::string> answers;     // where the needle has no {CHAR}
  std::vector<std::string> characters;  // what {CHAR} may stand for; one of them is the answer
};

// In the order of the file: needles, their kinds of question, their tests. Throws Error (failure)
// that names the file and the needle: it can't be read, is larger than 64 MiB or of another form,
// or a test has no answer.
std::vector<NoLiMaTest> ReadNoLiMaTests(const std::string& path);

}  // namespace midscope
