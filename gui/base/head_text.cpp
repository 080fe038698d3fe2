// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/head_text.h"

#include <QRegularExpression>

#include "core/base/error.h"

namespace midscope {

QString HeadText(HeadId head) { return QStringLiteral("L%1H%2").arg(head.layer).arg(head.head); }

HeadId ReadHeadId(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(?:attn_)?L?(\\d{1,4})[H_](\\d{1,4})$"),
                                          QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) {
    throw UsageError("--head", "'" + text.toStdString() + "' is not a head",
                     "Write it as L12H3, layers and heads counted from zero");
  }
  return {match.captured(1).toLongLong(), match.captured(2).toLongLong()};
}

}  // namespace midscope
