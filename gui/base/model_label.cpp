// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/model_label.h"

#include <QDir>
#include <QFileInfo>

namespace midscope {

QString ModelLabel(const QString& model, const QString& otherwise) {
  // The embedded model is known by the name that its makers gave it.
  if (model == QLatin1String("embedded")) return QStringLiteral("SmolLM2-135M-Instruct (embedded)");
  QString name = QFileInfo(QDir::cleanPath(model)).fileName();
  for (const char* ending : {".gguf", ".safetensors"}) {
    if (name.endsWith(QLatin1String(ending), Qt::CaseInsensitive))
      name.chop(static_cast<qsizetype>(qstrlen(ending)));
  }
  return name.isEmpty() ? otherwise : name;
}

}  // namespace midscope
