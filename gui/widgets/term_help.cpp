// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_help.h"

#include <string>

#include "core/terms/terms.h"
#include "kernels/check.h"

namespace midscope {

QString TermHelp(const char* term) {
  const TermType* described = FindTermType(term);
  if (!described) MIDSCOPE_BUG(std::string("no intervention term '") + term + "'");
  QString text = QString::fromStdString(described->summary);
  if (!described->source.empty())
    text += QLatin1Char('\n') + QString::fromStdString(described->source);
  // As rich text, because plain tooltips do not wrap.
  return QStringLiteral("<p>") + text.toHtmlEscaped().replace('\n', QStringLiteral("<br>")) +
         QStringLiteral("</p>");
}

}  // namespace midscope
