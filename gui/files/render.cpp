// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include <optional>

#include "core/base/error.h"
#include "data/sweep/sample_view.h"
#include "gui/panels/outcome/run_reference.h"
#include "gui/panels/panel_list.h"

namespace midscope {

QStringList RenderFile(const RenderRequest& request) {
  const RunFile file = ReadForViewing(request.file.toStdString());
  std::optional<Record> reference;
  if (!request.reference.isEmpty()) reference = RunReference(request.reference);
  FilePictures pictures(request, file, reference ? &*reference : nullptr);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    throw Failure("'" + request.file.toStdString() + "'", "it holds nothing that can be drawn",
                  "Give a file written by midscope probe, midscope sweep or the window");
  }
  return pictures.written();
}

}  // namespace midscope
