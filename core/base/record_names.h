// SPDX-License-Identifier: MIT
// Names of records and arrays that more than one file uses. Outputs contain them and scripts rely
// on them (data/SCHEMA.md), so they must not change. Names used by only one probe are not here.
#pragma once

namespace midscope {

// Names of records.
inline constexpr const char* kPromptRecord = "prompt";
inline constexpr const char* kAnswerRecord = "answer";
inline constexpr const char* kOutcomeRecord = "outcome";
inline constexpr const char* kNextTokensRecord = "next_tokens";
inline constexpr const char* kHiddenChannelsRecord = "hidden_channels";
inline constexpr const char* kPositionAwarenessRecord = "position_awareness";
inline constexpr const char* kOutcomeCurves = "outcome_curves";
inline constexpr const char* kGenerationRecord = "generation";
inline constexpr const char* kLogitLensRecord = "logit_lens";
inline constexpr const char* kEffectiveAttention = "effective_attention";  // also an array's name

// Names of arrays. If a probe made one of the first three, its record has the same name.
inline constexpr const char* kLastQueryAttention = "last_query_attention";  // [layer, head, key]
inline constexpr const char* kPositionRatio = "position_ratio";             // [layer, head]
inline constexpr const char* kLastLogits = "last_logits";                   // [vocabulary]
inline constexpr const char* kPositionAwarenessScore = "position_awareness_score";  // [layer, head]
inline constexpr const char* kCountedKeys = "counted_keys";  // [layer, head, key]
// Attribute of kCountedKeys' record: the lowest attention weight at which a key is counted.
inline constexpr const char* kThresholdWeight = "threshold_weight";
// Suffix of the array that contains the half-widths of the 95 % intervals of an array of means.
inline constexpr const char* kHalfWidthSuffix = "_half_width";
inline constexpr const char* kEffectiveGoldShare =
    "effective_gold_share";                                           // [mixer_layer, mixer_head]
inline constexpr const char* kHiddenChannel = "hidden_channel";       // [layer, channel, position]
inline constexpr const char* kTokenIds = "token_ids";                 // [token]
inline constexpr const char* kAnswerTokenText = "answer_token_text";  // [answer_token], in `prompt`
inline constexpr const char* kNewTokenIds = "new_token_ids";          // [new_token]
inline constexpr const char* kNewTokenText = "new_token_text";        // [new_token]
inline constexpr const char* kNewTokenProbability = "new_token_probability";  // [new_token]
inline constexpr const char* kSpanName = "span_name";                         // [span]
inline constexpr const char* kAnswerNll = "answer_nll";  // nats; also a measure's name

// [place]: texts of a sweep's samples.
inline constexpr const char* kQuestionText = "question_text";
inline constexpr const char* kAnswerText = "answer_text";
inline constexpr const char* kExpectedAnswers = "expected_answers";
inline constexpr const char* kSampleTexts[] = {kQuestionText, kAnswerText, kExpectedAnswers};
// Multiple-choice answers of a sweep's samples; samples may have different numbers of choices.
inline constexpr const char* kChoiceNll = "choice_nll";      // [setting, place, choice]
inline constexpr const char* kChoiceRight = "choice_right";  // [place, choice]
inline constexpr const char* kChoiceAxis = "choice";

// [place]: whether the task cut the prompt; present only for tasks that cut prompts.
inline constexpr const char* kPromptCut = "prompt_cut";
inline constexpr const char* kGoldRank = "gold_rank";
// [place]: first token of the gold piece; -1 if a cut removed all of it.
inline constexpr const char* kGoldTokenBegin = "gold_token_begin";

// The unit of wall time. A value with this unit was measured on the machine, so it differs between
// otherwise equal runs and is not compared.
inline constexpr const char* kSeconds = "s";
inline constexpr const char* kSettingSeconds = "setting_seconds";  // [setting]

// Arrays about generated text. The last two are [place], the others are [setting, place].
inline constexpr const char* kGenerationCut = "generation_cut";
inline constexpr const char* kGenerationEmpty = "generation_empty";
inline constexpr const char* kAnsweredPlace = "answered_place";
inline constexpr const char* kFirstPiecePlace = "first_piece_place";
inline constexpr const char* kLastPiecePlace = "last_piece_place";

}  // namespace midscope
