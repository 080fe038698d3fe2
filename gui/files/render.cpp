// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include <QTemporaryDir>
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/published/tuning_recipe.h"
#include "gui/panels/influence/influence_pictures.h"
#include "gui/panels/outcome/run_reference.h"
#include "gui/panels/outcome/tuning_losses.h"
#include "gui/panels/panel_list.h"
#include "probes/client/result_files.h"
#include "probes/measure/influence/influence_names.h"

namespace midscope {
namespace {

// Moves the last-query attention of a sweep, which is that of its first place, to a record
// last_query_attention with axis `place`, as a batch of probes has it. `whole`: all records of the
// file, for the place.
void MoveAttention(const std::vector<Record>& whole, std::vector<Record>& records) {
  const auto is_sweep = [](const Record& record) {
    return record.name != kLastQueryAttention && record.FindArray(kLastQueryAttention);
  };
  const auto found = std::ranges::find_if(records, is_sweep);
  if (found == records.end()) return;
  const auto at = std::ranges::find(found->arrays, kLastQueryAttention, &Array::name);
  std::vector<std::string>& axes = at->axes;
  if (axes.empty() || std::ranges::find(axes, "place") != axes.end()) return;
  Axis place{"place", 1, "", {}, {}};
  for (const Record& record : whole) {
    const Axis* places = record.FindAxis("place");
    if (!places || !record.FindArray("gold_token_begin")) continue;
    place.labels.assign(places->labels.begin(), places->labels.begin() + !places->labels.empty());
    place.values.assign(places->values.begin(), places->values.begin() + !places->values.empty());
  }
  axes.insert(axes.begin() + (axes.front() == "sample" ? 1 : 0), place.name);
  Record moved{kLastQueryAttention, {std::move(place)}, {}, {}, kLastQueryAttention};
  for (const Axis& axis : found->axes) {
    if (axis.name != "place" && std::ranges::find(axes, axis.name) != axes.end())
      moved.axes.push_back(axis);
  }
  moved.arrays.push_back(std::move(*at));
  found->arrays.erase(at);
  if (found->signal == kLastQueryAttention) found->signal.clear();
  records.push_back(std::move(moved));
}

// Names the records of the file that can be drawn.
std::string DrawableRecords(const RenderRequest& request, const RunFile& whole) {
  QStringList names;
  for (const Record& record : whole.records) {
    const QTemporaryDir folder;
    RenderRequest one = request;
    one.folder = folder.path();
    one.formats.clear();
    one.heads.clear();
    RunFile file{{record}, whole.provenance, whole.plan_json};
    MoveAttention(whole.records, file.records);
    FilePictures pictures(one, file, &whole);
    for (const PanelEntry& panel : PanelList()) panel.render(pictures);
    if (!pictures.written().isEmpty()) names << QString::fromStdString(record.name);
  }
  return names.join(QStringLiteral(", ")).toStdString();
}

}  // namespace

QStringList RenderFile(const RenderRequest& request) {
  const ResultFiles files(std::make_shared<EngineLink>(LocalEngine()));
  const std::string address = request.file.toStdString();
  RunFile file = files.Read(address);
  std::optional<RunFile> whole;
  if (const size_t end = address.rfind("::"); end != std::string::npos)
    whole = files.Read(address.substr(0, end));
  MoveAttention(whole ? whole->records : file.records, file.records);
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
  const auto has_heads = [](const Record& record) { return record.FindAxis("head") != nullptr; };
  if (!request.heads.empty() && std::ranges::none_of(file.records, has_heads)) {
    throw UsageError("--head", "'" + address + "' has no records over heads", "Leave --head out");
  }
  FilePictures pictures(request, file, whole ? &*whole : nullptr,
                        reference ? &*reference : nullptr);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    const std::string others = whole ? DrawableRecords(request, *whole) : "";
    throw Failure("'" + address + "'", "it holds nothing that can be drawn",
                  others.empty()
                      ? "Give a file written by midscope probe, midscope sweep or the window"
                      : "Records of the file that can be drawn: " + others);
  }
  return pictures.written();
}

}  // namespace midscope
