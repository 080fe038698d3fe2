// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/write_whole_file.h"

#include <QSaveFile>

#include "core/base/error.h"

namespace midscope {

void WriteWholeFile(const std::string& thing, const QString& path, const std::string& text) {
  QSaveFile file(path);
  const bool written = file.open(QIODevice::WriteOnly) &&
                       file.write(text.data(), static_cast<qint64>(text.size())) >= 0 &&
                       file.commit();
  if (!written) {
    throw Failure(thing + " '" + path.toStdString() + "'", file.errorString().toStdString(),
                  "Choose a folder that can be written to");
  }
}

}  // namespace midscope
