// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the window's pictures of a results file, without a display.
#pragma once

#include <QStringList>

#include "gui/panels/file_pictures.h"

namespace midscope {

// Draws every picture for which the file has records, panel by panel. Returns the paths of the
// written files, in order. Throws Error if the file cannot be read or contains nothing to draw.
QStringList RenderFile(const RenderRequest& request);

}  // namespace midscope
