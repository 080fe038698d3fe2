// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "data/published/tuning_recipe.h"
#include "gui/panels/influence/influence_pictures.h"
#include "gui/panels/outcome/run_reference.h"
#include "gui/panels/outcome/tuning_losses.h"
#include "gui/panels/panel_list.h"
#include "probes/client/result_files.h"
#include "probes/measure/influence/influence_names.h"

namespace midscope {

QStringList RenderFile(const RenderRequest& request) {
  const ResultFiles files(std::make_shared<EngineLink>(LocalEngine()));
  const std::string address = request.file.toStdString();
  RunFile file = files.Read(address);
  std::optional<RunFile> whole;
  if (const size_t end = address.rfind("::"); end != std::string::npos)
    whole = files.Read(address.substr(0, end));
  std::optional<Record> reference;
  // Losses of several runs are one picture, and so are gradients.
  auto* read = FindRecord(file.records, kTuningRecord)             ? &ReadTuningRecord
               : FindRecord(file.records, kInfluenceByPlaceRecord) ? &ReadInfluence
                                                                   : nullptr;
  if (read) {
    for (const QString& path : request.reference) file.records.push_back(read(files, path));
  } else if (!request.reference.isEmpty()) {
    reference = RunReference(files, request.reference);
  }
  FilePictures pictures(request, file, whole ? &*whole : nullptr,
                        reference ? &*reference : nullptr);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    throw Failure("'" + request.file.toStdString() + "'", "it holds nothing that can be drawn",
                  "Give a file written by midscope probe, midscope sweep or the window");
  }
  return pictures.written();
}

}  // namespace midscope
