// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/wrapped_text.h"

#include <algorithm>

namespace midscope {
namespace {

// The number of characters of a word that fit into the width, at least one: up to the last
// punctuation mark in the second half of the line, if there is one.
qsizetype FittingPart(const QString& word, const QFontMetrics& metrics, int width) {
  qsizetype fits = 1;
  while (fits < word.size() && metrics.horizontalAdvance(word.left(fits + 1)) <= width) ++fits;
  for (qsizetype end = fits; end > fits / 2; --end) {
    if (QStringLiteral(",;+=/-_.)").contains(word[end - 1])) return end;
  }
  return fits;
}

}  // namespace

QString Wrapped(const QString& text, const QFontMetrics& metrics, int width) {
  QStringList lines;
  QString line;
  for (QString word : text.split(QLatin1Char(' '))) {
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (metrics.horizontalAdvance(longer) <= width) {
      line = longer;
      continue;
    }
    if (!line.isEmpty()) lines << line;
    while (metrics.horizontalAdvance(word) > width && word.size() > 1) {
      const qsizetype part = FittingPart(word, metrics, width);
      if (part >= word.size()) break;
      lines << word.left(part);
      word.remove(0, part);
    }
    line = word;
  }
  lines << line;
  return lines.join(QLatin1Char('\n'));
}

}  // namespace midscope
