// SPDX-License-Identifier: GPL-3.0-or-later
// Changes the position ratios of setting B head by head. B's scheme is converted to a table of
// ratios, which is edited and set in B as ratios(FILE). The file is written at the end of a drag.
#pragma once

#include <QObject>
#include <optional>
#include <utility>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/base/head_quantities.h"
#include "gui/base/head_ratios.h"
#include "gui/base/view_types.h"

namespace midscope {

class Session;

class RatioPainter : public QObject {
  Q_OBJECT

 public:
  explicit RatioPainter(const Session* session, QObject* parent = nullptr);

  // The ratios that the setting defines without a run: those of ratios(FILE) and pi, or 1 if there
  // is no scheme. Returns nullopt for schemes that choose ratios during the run (ms-poe) or have
  // none, and without a model.
  std::optional<HeadRatioTable> Stated(Side side) const;
  // B's ratios: those that it defines; for ms-poe those of its run once that is done; otherwise 1
  // for all heads. Returns nullopt without a model.
  std::optional<HeadRatioTable> Table() const;
  // Whether an edit would replace a scheme that has no ratios.
  bool Replaces() const;
  // Sets whether an edit of a head applies to all heads of its key/value group.
  void SetGrouped(bool grouped) { grouped_ = grouped; }
  void SetFolder(const QString& folder) { folder_ = folder; }

  // Multiplies the heads' ratios by e^change. While `dragging`, `change` is relative to the start
  // of the drag; the first call with `dragging` false ends the drag. Throws Error if the file
  // cannot be written.
  void Paint(const std::vector<HeadId>& heads, double change, bool dragging);
  // Sets the ratios of heads in one step. Throws Error: (usage) without a model or for an invalid
  // ratio; (failure) if the file cannot be written.
  void Set(const std::vector<std::pair<HeadId, double>>& ratios);
  enum class Edit { kFromScore, kGrouped, kReversed, kRandom, kOnes };
  // Throws Error (usage) if the data for the edit are missing.
  void Apply(Edit edit);

 Q_SIGNALS:
  void Painted(const midscope::HeadRatioTable& ratios, bool dragging);

 private:
  HeadRatioTable Edited(Edit edit, const HeadRatioTable& table) const;
  std::vector<HeadId> WithGroups(const std::vector<HeadId>& heads) const;
  int64_t HeadsPerGroup() const;

  const Session* session_;
  QString folder_ = RatioFolder();
  bool grouped_ = false;
  std::optional<HeadRatioTable> begin_;  // at the start of the drag; nullopt: no drag
  // B's ratios after the last change of the drag. If B has another scheme, something else (such as
  // undo) has changed B, and the rest of the drag has no effect.
  std::optional<HeadRatioTable> painted_;
  bool dropped_ = false;
};

}  // namespace midscope
