// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "gui/panels/outcome/run_reference.h"
#include "gui/panels/panel_list.h"
#include "probes/client/result_files.h"

namespace midscope {

QStringList RenderFile(const RenderRequest& request) {
  const ResultFiles files(std::make_shared<EngineLink>(LocalEngine()));
  const RunFile file = files.Read(request.file.toStdString());
  std::optional<Record> reference;
  if (!request.reference.isEmpty()) reference = RunReference(files, request.reference);
  FilePictures pictures(request, file, reference ? &*reference : nullptr);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    throw Failure("'" + request.file.toStdString() + "'", "it holds nothing that can be drawn",
                  "Give a file written by midscope probe, midscope sweep or the window");
  }
  return pictures.written();
}

}  // namespace midscope
