// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a prompt, and the offset in it at which each token begins.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"

namespace midscope {

struct PromptText {
  QString text;
  QStringList tokens;   // as labels: a line end is "\n"
  QVector<int> begins;  // UTF-16 offset of each token in `text`, then the length of `text`
  TokenSpan gold;       // empty: none
  std::vector<TokenSpan> pieces;  // all passages except the gold

  // The substring of `text` that the token covers.
  QString Part(qsizetype token) const {
    return text.mid(begins[token], begins[token + 1] - begins[token]);
  }
};

// `prompt`: the record of that name (see probes/engine/engine.h); if null, the result has no
// tokens.
PromptText ReadPromptText(const Record* prompt);

// The per-token values that can colour the text: the attention of one head or the mean of all
// heads, a hidden channel, and arrays over tokens of other records.

struct TokenSource {
  enum class Kind { kHead, kPinned, kMeanOfHeads, kChannel, kOfHead, kOfToken, kOfPassage };
  Kind kind = Kind::kHead;
  std::string id;      // in session files: "head", "answer_attribution/answer_attribution_of_key"
  QString name;        // shown in the list of sources
  std::string record;  // name of the record with the array
  std::string array;
  HeadId head;  // for kPinned
  bool operator==(const TokenSource& other) const { return id == other.id && name == other.name; }
};

// The sources that the record offers for a text: arrays [layer, head, key] (for the shown head) and
// [key], [token] or [position] over its tokens, and [place, layer, head, passage] over its named
// passages, only those with measured values.
std::vector<TokenSource> SourcesOf(const Record& record, const PromptText& text);

// The mean of all heads' attention to each token; empty if the record lacks last_query_attention.
QVector<double> MeanOverHeads(const Record& attention);
// A hidden channel by position, averaged over `layers`, or over all layers if `layers` is empty.
// Empty if the record does not contain the channel.
QVector<double> MeanOverLayers(const Record& hidden, int64_t channel, const LayerSet& layers);

// The text and the choices on which the values of a source depend.
struct TokenContext {
  const PromptText& text;
  int64_t place = 0;  // of the gold passage
  HeadId head{};      // the shown one
  int64_t channel = 0;
  LayerSet layers{};
};
// One value per token; empty if there are none. Tokens of a passage have its value, others 0.
QVector<double> ValuesOf(const Record* record, const TokenSource& source,
                         const TokenContext& context);

}  // namespace midscope
