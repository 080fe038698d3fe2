// SPDX-License-Identifier: GPL-3.0-or-later
// Two models side by side: their names, the texts that they share, and which of their numbers can
// be compared.
#pragma once

#include <QString>
#include <QVector>
#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "gui/base/view_types.h"
#include "probes/engine/engine.h"

namespace midscope {

class Session;

// "A" or "B"; with a second model, followed by its model: "B SmolLM2-135M-Instruct.Q4_1". Models
// with equal names are distinguished by their dtypes, else by their paths.
QString SideName(const Session& session, Side side);
// The model in SideName; "" if there is no second model.
QString SideModel(const Session& session, Side side);

// Quantities that are subtracted or drawn over each other.
enum class Compared {
  kAnswers,      // nats of the whole answer, at the same places
  kHeads,        // numbers per layer and head
  kTokens,       // numbers per token of the prompt
  kNextTokens,   // numbers per token of the vocabulary
  kSampleMeans,  // the paired difference of means over samples
  kChannel,      // the shown hidden channel
};
// Returns why the numbers of A and B are not comparable, as a short clause; "" if they are, or if A
// and B are settings of one model.
QString WhyNotComparable(const Session& session, Compared what);
// Returns why tables of these sizes are not comparable; "" if they are.
QString WhyHeadsDiffer(int64_t layers_a, int64_t heads_a, int64_t layers_b, int64_t heads_b);

// Returns numbers per token of the prompt record `from` as numbers per token of `to`, which has the
// same text in other tokens. A token's number is spread evenly over its characters; a token of `to`
// gets their sum (`sum`: shares, such as attention) or their mean. Tokens without characters are
// matched only at the beginning of the text. Returns `values` if both have the same tokens, and
// nothing if the sizes do not fit.
QVector<double> OnTokensOf(const Record& to, const Record& from, const QVector<double>& values,
                           bool sum);
// Whether the second model made the record, and the first could not have.
bool IsOfSecond(const Session& session, const Record& record);
// Returns `values` per token of a record of the second model, converted to the tokens of the first
// model. Returns the values of any other record unchanged.
QVector<double> OnTokensOfA(const Session& session, const Record* record,
                            const QVector<double>& values, bool sum);
// Returns the tokens of the shown prompt as the model of `to` has it that contain the characters of
// `tokens`, which are tokens in the model of `from`. Both equal: returns `tokens`.
TokenSpan TokensFor(const Session& session, Side from, const TokenSpan& tokens, Side to);
// Returns the first token that TokensFor returns for the single `token`; -1 if it is negative.
int64_t TokenFor(const Session& session, Side from, int64_t token, Side to);

// The texts of records `prompt` as PromptRequest::given, with their passages and answers.
std::vector<SourceText> GivenTexts(const std::vector<Record>& prompts);

}  // namespace midscope
