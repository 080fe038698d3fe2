// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of the panels that show records. The window, the export of plots, session files,
// `--render` and the panel of other records use panels only through this class and the list of
// panels (gui/panels/panel_list.h).
#pragma once

#include <QWidget>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/session/changes.h"
#include "gui/widgets/parameter_field.h"

class QPushButton;

namespace midscope {

class FilePictures;
class FlowLayout;
class Selection;
class JsonFields;
class Plot;
class ResultFiles;
class Session;
class TriedSettings;

// Shared state that panels read and change. A panel must not use it in its destructor.
struct PanelContext {
  Session* session = nullptr;
  Selection* selection = nullptr;  // heads, tokens and settings that all panels show
  TriedSettings* tried = nullptr;  // tried settings, and settings kept as C to F
};

// A panel's constructor draws the empty session. Actions added to a panel (QWidget::addAction) also
// appear in the View menu.
class Panel : public QWidget {
  Q_OBJECT

 public:
  explicit Panel(const PanelContext& context);

  // Shows the current state of the session. `changes`: what has changed since the last call, so
  // that slow panels redraw only that. Called at most once per turn of the event loop.
  virtual void Refresh(Changes changes) = 0;
  // Draws immediately what a hidden panel would draw when it is shown.
  virtual void DrawWaiting();
  // The plots that currently show data, for export; call DrawWaiting first.
  virtual std::vector<Plot*> plots() const { return {}; }
  // The panel's main control, which the window shows in the title, and further controls, which are
  // hidden until the user shows them; null: there are none.
  QWidget* head() const { return head_; }
  QWidget* options() const { return options_; }
  // The panel's state for session files (gui/files/session_file.h), stored under StateKey; null:
  // nothing is stored.
  virtual nlohmann::json State() const;
  // Restores a state that State returned and CheckState accepted; null if the file has none. Called
  // before the session's model is open.
  virtual void Restore(const nlohmann::json& /*state*/) {}

  // Static functions that subclasses may hide with their own:
  // Names of the records that this panel shows; the panel of other records omits them. Empty only
  // for that panel.
  static std::vector<std::string> Records() { return {}; }
  // The key of the panel's state in session files, unique among panels; "": the panel has no state.
  static std::string StateKey() { return {}; }
  // Throws Error if the field StateKey of a session is not valid input for Restore.
  static void CheckState(const JsonFields& /*session*/) {}
  // Draws the panel's pictures of a results file, without a session.
  static void Render(FilePictures& /*pictures*/) {}

 Q_SIGNALS:
  // Emitted when the user has chosen a place of the gold passage, counted from 1.
  void PlaceChosen(qint64 place);
  // Emitted when the user adds a term to setting B: "pi(8)", "channel(100, factor=-1)".
  void TermOffered(const QString& term);
  // Emitted when the user replaces setting B.
  void SettingOffered(const QString& setting);
  // Emitted when the user selects a channel for the factor control of setting B, or changes the
  // factor of a channel that B scales; `dragging`: the drag is not finished.
  void ScalingOffered(const midscope::ChannelScaling& scaling, bool dragging);
  // Emitted when the user changes the ratios of heads in B; `dragging`: the drag is not finished.
  void RatiosOffered(const midscope::HeadRatioTable& ratios, bool dragging);
  // Emitted when the user has chosen another channel to view.
  void ChannelChosen(qint64 before, qint64 channel);
  // Emitted when the user opens a results file of the engine's machine in the window.
  void ResultsOffered(const QString& path);
  // Emitted when another panel is to be shown; `id`: PanelEntry::id.
  void PanelRequested(const QString& id);
  // Emitted when the panel cannot do what the user requested.
  void Failed(const QString& why);

 protected:
  Session* session() const { return context_.session; }
  Selection* selection() const { return context_.selection; }
  TriedSettings* tried() const { return context_.tried; }
  // Files of the engine's machine.
  const ResultFiles& files() const;
  // Opens a dialog for one of them, for fields of forms; returns "" if the user closes it.
  ChooseFile file_dialog() const;
  // Makes the plot show the selection's part of the token axis, and makes Esc in it release the
  // selection.
  void LinkTokenAxis(Plot* plot);
  // Makes the plot show that part now.
  void ShowWindow(Plot* plot) const;
  // Whether the open model can run the probe of that name.
  bool OffersProbe(const std::string& name) const;
  // Whether to draw at once. False for a panel that is hidden while its window is visible.
  bool DrawsAtOnce() const { return isVisible() || !window()->isVisible(); }
  // Draws the panel now or, if it is hidden, when it is shown.
  void DrawWhenShown();
  bool waits() const { return waits_; }
  virtual void Draw() {}
  // Runs `work`. If it throws an Error, emits Failed with its message and returns false.
  bool Try(const std::function<void()>& work);
  // A button with this object name that runs the probe with every full run.
  QPushButton* MakeSwitch(const QString& name, const std::string& probe);
  void showEvent(QShowEvent* event) override;
  // Lays out the panel: `head` above the view until a title takes it, `options` below it.
  void LayOut(QWidget* view, QLayout* head, FlowLayout* options);

 private:
  PanelContext context_;
  QWidget* head_ = nullptr;
  QWidget* options_ = nullptr;
  bool waits_ = false;  // whether to draw when it is shown
};

}  // namespace midscope
