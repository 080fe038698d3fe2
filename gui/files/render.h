// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the window's pictures from a file of results, without a display.
#pragma once

#include <QStringList>

#include "gui/panels/file_pictures.h"

namespace midscope {

// Draws everything that the file has records for, panel by panel. Returns the paths written, in
// order. Throws Error for a file that can't be read or has nothing to draw.
QStringList RenderFile(const RenderRequest& request);

}  // namespace midscope
