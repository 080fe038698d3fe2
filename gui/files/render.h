// SPDX-License-Identifier: GPL-3.0-or-later
// The window's pictures out of a file of results, with no display.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "gui/base/view_types.h"

namespace midscope {

struct RenderRequest {
  QString file;  // RUN.h5, or an address inside it
  QString folder;
  QStringList formats;             // of PlotFormats()
  std::optional<HeadId> head;      // none: the one that attends most to gold, or else has the
                                   // largest position-awareness score
  std::optional<int64_t> channel;  // none: the first in the file
};

// Draws all that the file has records for. The paths written, in order. Throws Error for a file
// that can't be read or holds nothing that can be drawn.
QStringList RenderFile(const RenderRequest& request);

}  // namespace midscope
