// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a prompt, and where its tokens begin in it.
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
  QStringList tokens;   // as labels: "\n" for a line end
  QVector<int> begins;  // UTF-16 unit of each token's first character in `text`, then its length
  TokenSpan gold;       // empty: none
  std::vector<TokenSpan> pieces;  // the prompt's other passages

  // The part of `text` that the token is.
  QString Part(qsizetype token) const {
    return text.mid(begins[token], begins[token + 1] - begins[token]);
  }
};

// `prompt`: see probes/engine/engine.h; null: no tokens.
PromptText ReadPromptText(const Record* prompt);

}  // namespace midscope
