// SPDX-License-Identifier: GPL-3.0-or-later
// Head maps for results files and for scans.
#pragma once

#include "gui/panels/file_pictures.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/scan_views.h"

namespace midscope {

// Makes a map of the scan's effects. `view`: one of ScanViews(&scan).
HeadMap ScanMap(const Record& scan, const ScanView& view);

// Draws the scan, the position-awareness scores and the attention on the gold of the file.
void RenderHeadMaps(FilePictures& pictures);

}  // namespace midscope
