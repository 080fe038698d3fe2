// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the window's pictures from a file of results, without a display.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "gui/base/view_types.h"

namespace midscope {

struct RenderRequest {
  QString file;  // RUN.h5, or the address of a group in it
  QString folder;
  QStringList formats;  // of PlotFormats()
  std::optional<HeadId>
      head;  // none: the head that attends most to gold, else the largest position-awareness score
  std::optional<int64_t> channel;  // none: the first in the file
};

// Draws everything that the file has records for. Returns the paths written, in order. Throws Error
// for a file that can't be read or has nothing to draw.
QStringList RenderFile(const RenderRequest& request);

}  // namespace midscope
