// SPDX-License-Identifier: GPL-3.0-or-later
// Breaks texts of plots into lines.
#pragma once

#include <QFontMetrics>
#include <QString>

namespace midscope {

// Breaks the text into lines of at most `width` pixels: between words, else after punctuation as in
// long settings, else anywhere.
QString Wrapped(const QString& text, const QFontMetrics& metrics, int width);

}  // namespace midscope
