// SPDX-License-Identifier: MIT
// Scores generated answers by a judge: a local model that is given the question, the reference and
// the answer, with the criteria of LLMTest_NeedleInAHaystack (Kamradt, 2023), as in Fig. 4 of CREAM
// (arXiv 2406.07138). In that code GPT-3.5 writes an explanation and a rating; here the
// likeliest of the five ratings is taken, so that a small model always gives one and the same.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "data/store/record_reader.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

inline constexpr std::array<int64_t, 5> kJudgeScores = {1, 3, 5, 7, 10};
inline constexpr const char* kJudgeRecord = "judge_scores";

struct JudgedAnswer {
  std::string question;
  std::string reference;
  std::string answer;
  auto operator<=>(const JudgedAnswer&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

// Returns the text that the judge model is given for an answer.
std::string JudgePrompt(const JudgedAnswer& answer);

class AnswerJudge {
 public:
  // Scores answers with the model of `decoder`. The prompt is a user's message if the model has a
  // chat template, else plain text.
  explicit AnswerJudge(std::shared_ptr<const Decoder> decoder);

  // Returns the probability of each of the five scores kJudgeScores, from the likelihoods of the
  // continuations "1/10" to "10/10" (the common ending makes none a prefix of another). Equal
  // answers are run once. Throws Error if the prompt exceeds the judge's context; Cancelled.
  const std::array<double, kJudgeScores.size()>& Shares(const JudgedAnswer& answer,
                                                        const JobContext& context);

  const PromptFormat& format() const { return format_; }

 private:
  std::shared_ptr<const Decoder> decoder_;
  PromptFormat format_;
  std::map<JudgedAnswer, std::array<double, kJudgeScores.size()>> known_;
};

// Throws Error (usage) if the file is not the file of a sweep with generated texts.
void CheckGeneratedTexts(const RunReader& reader);

// Scores the generated texts of a sweep's file. Returns record judge_scores: judge_score and
// judge_share (probability of each score) [sample, setting, place] and [.., score], NaN where the
// setting was not run; judge_score_mean with _low and _high (Student's t) [setting, place].
// Attributes: source of the texts. Throws in the same cases as CheckGeneratedTexts; Cancelled.
Record JudgeSweep(const RunReader& reader, AnswerJudge& judge, const JobContext& context);

}  // namespace midscope
