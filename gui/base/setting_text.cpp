// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/setting_text.h"

#include <QRegularExpression>

namespace midscope {

QString WithoutFolders(const QString& setting) {
  static const QRegularExpression folders(QStringLiteral("ratios\\(\"?([^,()\"]*/)"));
  QString text = setting;
  for (QRegularExpressionMatch match = folders.match(text); match.hasMatch();
       match = folders.match(text)) {
    text.remove(match.capturedStart(1), match.capturedLength(1));
  }
  return text;
}

}  // namespace midscope
