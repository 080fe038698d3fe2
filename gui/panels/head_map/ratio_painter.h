// SPDX-License-Identifier: GPL-3.0-or-later
// Changes the position ratios of setting B head by head: what B's scheme gives every head becomes a
// table, which is edited and put on B as ratios(FILE). A file is written at the end of a drag.
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

  // The ratios that the setting states, without a run: of ratios(FILE) and pi, 1 without a scheme.
  // nullopt for schemes that choose them (ms-poe) or have none, and without a model.
  std::optional<HeadRatioTable> Stated(Side side) const;
  // B's ratios: those that it states; for ms-poe those of its run, once it is done; else 1
  // everywhere. nullopt without a model.
  std::optional<HeadRatioTable> Table() const;
  // Whether an edit replaces a scheme that has no ratios.
  bool Replaces() const;
  // All heads of a head's key/value group change with it.
  void SetGrouped(bool grouped) { grouped_ = grouped; }
  void SetFolder(const QString& folder) { folder_ = folder; }

  // The heads' ratios times e^change. While `dragging`, `change` is from where the drag began; the
  // first call without it ends the drag. Throws Error where the file can't be written.
  void Paint(const std::vector<HeadId>& heads, double change, bool dragging);
  // Ratios of heads, in one step. Throws Error: (usage) without a model, and for a ratio that none
  // can be; (failure) where the file can't be written.
  void Set(const std::vector<std::pair<HeadId, double>>& ratios);
  enum class Edit { kFromScore, kGrouped, kReversed, kRandom, kOnes };
  // Throws Error (usage) where there is nothing to make it of.
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
  std::optional<HeadRatioTable> begin_;  // of the drag that goes on
  // B's ratios as changed by the drag. B was changed by something else, such as undo, where it has
  // another scheme: then the rest of the drag changes nothing.
  std::optional<HeadRatioTable> painted_;
  bool dropped_ = false;
};

}  // namespace midscope
