// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include "core/base/error.h"
#include "data/sweep/view_records.h"
#include "gui/panels/panel_list.h"

namespace midscope {

QStringList RenderFile(const RenderRequest& request) {
  const RunFile file = ReadForViewing(request.file.toStdString());
  FilePictures pictures(request, file);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    throw Failure("'" + request.file.toStdString() + "'", "it holds nothing that can be drawn",
                  "Give a file written by midscope probe, midscope sweep or the window");
  }
  return pictures.written();
}

}  // namespace midscope
