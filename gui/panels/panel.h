// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of the panels that show records. The window, the export of plots, session files,
// `--render` and the panel of other records know panels only through this class and the list of
// them (gui/panels/panel_list.h).
#pragma once

#include <QWidget>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/session/changes.h"

namespace midscope {

class FilePictures;
class Selection;
class JsonFields;
class Plot;
class Session;
class TriedSettings;

// State that panels read and change. Both outlive the panels' use of them: a panel does not touch
// them in its destructor.
struct PanelContext {
  Session* session = nullptr;
  Selection* selection = nullptr;  // heads, tokens and settings that all panels show
  TriedSettings* tried = nullptr;  // settings that were tried, and those that are kept as C to F
};

// The constructor draws the empty session. Actions added to the panel (QWidget::addAction) are also
// in the View menu.
class Panel : public QWidget {
  Q_OBJECT

 public:
  explicit Panel(const PanelContext& context);

  // Shows the session as it is now. `changes`: what has changed since the last call, so that a
  // panel that draws slowly can leave the rest as it is. Called at most once per turn of the event
  // loop.
  virtual void Refresh(Changes changes) = 0;
  // Draws now what a hidden panel draws when it is shown.
  virtual void DrawWaiting() {}
  // The plots that show something now, for export; after DrawWaiting.
  virtual std::vector<Plot*> plots() const { return {}; }
  // The panel's part of a session file (gui/files/session_file.h), the value of its StateKey; null:
  // nothing is written.
  virtual nlohmann::json State() const;
  // Takes over what State gave; null where the file has nothing. CheckState has accepted it. Called
  // before the session's model is open.
  virtual void Restore(const nlohmann::json& /*state*/) {}

  // Hidden by panels that have them:
  // Names of the records that this panel shows: the panel of other records leaves them out. Empty
  // for that panel only.
  static std::vector<std::string> Records() { return {}; }
  // The key of the panel's state in session files, which no other panel has. Empty: it keeps
  // nothing.
  static std::string StateKey() { return {}; }
  // Throws Error where the field StateKey of a session is not what Restore takes.
  static void CheckState(const JsonFields& /*session*/) {}
  // Draws the panel's pictures of a file, without a session.
  static void Render(FilePictures& /*pictures*/) {}

 Q_SIGNALS:
  // Emitted when the user has chosen a place of the gold passage, counted from 1.
  void PlaceChosen(qint64 place);
  // Emitted when the user puts a term on setting B: "pi(8)", "channel(100, factor=-1)".
  void TermOffered(const QString& term);
  // Emitted when the user puts a channel on the factor knob of setting B, or changes the factor of
  // one that B scales; `dragging`: goes on.
  void ScalingOffered(const midscope::ChannelScaling& scaling, bool dragging);
  // Emitted when the user changes ratios of heads that B is to have; `dragging`: goes on.
  void RatiosOffered(const midscope::HeadRatioTable& ratios, bool dragging);
  // Emitted when the user has chosen another channel to look at.
  void ChannelChosen(qint64 before, qint64 channel);
  // Emitted when the panel cannot do what the user requested.
  void Failed(const QString& why);

 protected:
  Session* session() const { return context_.session; }
  Selection* selection() const { return context_.selection; }
  TriedSettings* tried() const { return context_.tried; }
  // The part of the token axis that the plot shows is the selection's, and Esc in it releases.
  void LinkTokenAxis(Plot* plot);
  // Whether the open model can run the probe of that name.
  bool OffersProbe(const std::string& name) const;
  // Whether to draw at once: not a panel that is hidden in a window that is shown.
  bool DrawsAtOnce() const { return isVisible() || !window()->isVisible(); }
  void showEvent(QShowEvent* event) override;

 private:
  PanelContext context_;
};

}  // namespace midscope
