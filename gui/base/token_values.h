// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of every token that can colour the text: the attention of a head and its mean, a hidden
// channel, and what other records have over tokens.
#pragma once

#include <QString>
#include <QVector>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"

namespace midscope {

struct TokenSource {
  enum class Kind { kHead, kPinned, kMeanOfHeads, kChannel, kOfHead, kOfToken };
  Kind kind = Kind::kHead;
  std::string id;      // in session files: "head", "answer_attribution/answer_attribution_of_key"
  QString name;        // of a list
  std::string record;  // that has the array
  std::string array;
  HeadId head;  // of kPinned
  bool operator==(const TokenSource& other) const { return id == other.id && name == other.name; }
};

// Values of the record over `tokens` tokens: arrays [layer, head, key] (of the shown head) and
// [key], [token] or [position], measured ones only.
std::vector<TokenSource> SourcesOf(const Record& record, int64_t tokens);

// The mean of all heads' attention to each token; empty without last_query_attention.
QVector<double> MeanOverHeads(const Record& attention);
// The mean over layers of a hidden channel by position: over `layers`, or all where they are none.
// Empty where the record does not have the channel.
QVector<double> MeanOverLayers(const Record& hidden, int64_t channel, const LayerSet& layers);

// One value per token; empty for none. `head`: the shown head.
QVector<double> ValuesOf(const Record* record, const TokenSource& source, HeadId head,
                         int64_t channel, const LayerSet& layers);

}  // namespace midscope
