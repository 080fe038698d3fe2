// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a prompt, and the offset in it at which each token begins.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <vector>

#include "core/base/record.h"
#include "core/base/spans.h"

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

}  // namespace midscope
