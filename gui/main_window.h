// SPDX-License-Identifier: GPL-3.0-or-later
// The main window. It places the panels as docks and connects them to the session
// (main_window_wiring.cpp). The actions of the user are in window_actions*.cpp.
#pragma once

#include <QMainWindow>
#include <memory>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/session/changes.h"
#include "probes/client/engine_link.h"
#include "probes/engine/engine.h"

class QLabel;
class QTabBar;

namespace midscope {

class ActionRegistry;
class AdapterBar;
class AnswerStrip;
class ChoiceHistory;
class CommandPalette;
class DockArea;
class DocumentBar;
class ErrorBar;
class FileMenu;
class Selection;
class ModelPanel;
class Panel;
class Plot;
class ProgressRow;
class SampleBar;
class Session;
class SessionKeeper;
class SettingHistory;
class SettingsPanel;
class SweepPanel;
class TopBar;
class TriedSettings;
class PromptHistory;
class PromptPanel;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  // The window of an engine process.
  explicit MainWindow(const std::shared_ptr<EngineLink>& link, QWidget* parent = nullptr);
  // The window of another engine, for tests. Results files are read by a process of this machine.
  explicit MainWindow(std::shared_ptr<Engine> engine, QWidget* parent = nullptr);
  ~MainWindow() override;

  void OpenModel(const QString& model);
  // Opens the model that the panels describe.
  void Open();
  // Opens the request's model with its options on the CPU, for the requested prompt.
  void OpenOnCpu(OpenRequest request);
  void OpenPath(const QString& path);  // a model, session or results file, by extension
  // Runs the prompt that the panels describe, on the open model; if none is open, first opens the
  // model that they describe.
  void Run();
  // Shows a place of the gold passage, counted from 1.
  void ChoosePlace(qint64 place);
  // Sets A or B. Throws Error if the text is not a valid setting.
  void SetSetting(Side side, const QString& setting);
  // Adds a term to setting B, or replaces B's term of the same kind.
  void PutOnB(const QString& term);

  // Restores recent files, options, geometry, layout and appearance from this file, and stores
  // changes in it. Without this call nothing is stored.
  void Remember(const QString& file);

  Session* session() const { return session_; }
  Selection* selection() const { return selection_; }
  FileMenu* files() const { return files_; }
  ModelPanel* model() const { return model_; }
  PromptPanel* prompt_panel() const { return prompt_panel_; }
  SettingsPanel* settings() const { return settings_; }
  // The window's undo stack contains the steps of everything that can be undone.
  SettingHistory* history() const { return history_; }
  ChoiceHistory* choices() const { return choices_; }
  AnswerStrip* answers() const { return answers_; }
  TriedSettings* tried() const { return tried_; }
  ErrorBar* errors() const { return errors_; }
  SampleBar* samples() const { return samples_; }
  AdapterBar* adapter() const { return adapter_; }
  DocumentBar* documents() const { return documents_; }
  TopBar* top_bar() const { return top_bar_; }
  // The tabs of the modes, in the order of LayoutList().
  QTabBar* modes() const { return modes_; }
  // Shows the mode for the prompt with the page of own text.
  void ShowOwnText();
  const SessionKeeper* keeper() const { return keeper_; }
  DockArea* docks() const { return docks_; }
  ActionRegistry* actions_list() const { return actions_; }
  CommandPalette* palette_of_actions() const { return palette_; }
  // One panel per entry of PanelList(), in that order.
  const std::vector<Panel*>& panels() const { return panels_; }
  // The panel of the given class.
  template <typename Shown>
  Shown* panel() const {
    return findChild<Shown*>();
  }
  // Brings the panel to the front of its tabs.
  void ShowPanel(Panel* panel);
  // Finds a panel by PanelEntry::id; returns nullptr if there is none.
  Panel* FindPanel(const QString& id) const;
  // The plots that the panels currently draw, in the order of the panels.
  std::vector<Plot*> plots() const;
  // Writes all plots to the folder in all formats; errors are shown on the error bar. If files
  // exist and `overwrite` is false, shows an error that names them and writes nothing.
  void ExportTo(const QString& folder, bool overwrite);
  // Writes all plots to the folder; requires confirmation before files are overwritten.
  void AskExportTo(const QString& folder);
  // Writes one plot and its numbers. Throws Error on failure, or if a file exists and `overwrite`
  // is false.
  void ExportPlot(Plot& plot, const QString& path, bool overwrite);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  Q_INVOKABLE void FitScreen();
  void MakeDocks();
  QWidget* MakeModes();
  void Arrange();
  MainWindow(std::shared_ptr<Engine> engine, const std::shared_ptr<EngineLink>& link,
             QWidget* parent);
  void WireSession();
  void OfferDevices();
  void WirePanels();
  void WireTopBar();
  void WireUndo();
  void Refresh(Changes changes);
  void RefreshSettings();
  void PutOnKnob(const midscope::ChannelScaling& scaling, bool dragging);
  void PutRatios(const midscope::HeadRatioTable& ratios, bool dragging);
  void ShowModel();
  void RefreshWaiting();
  void ShowWhatIf(const WhatIfCost& cost);
  void OfferTask(const QString& why);

  QSize own_size_;  // initial size chosen by the window, until it is first shown
  Session* session_;
  bool plots_dragging_ = false;  // whether the plots draw fast
  SettingHistory* history_;
  Selection* selection_;
  TriedSettings* tried_;
  ChoiceHistory* choices_;
  PromptHistory* prompts_;
  ActionRegistry* actions_;
  DockArea* docks_;
  FileMenu* files_;
  ModelPanel* model_;
  PromptPanel* prompt_panel_;
  SettingsPanel* settings_;
  std::vector<Panel*> panels_;
  AnswerStrip* answers_;
  SweepPanel* sweep_;
  SampleBar* samples_;
  DocumentBar* documents_;
  AdapterBar* adapter_;
  ErrorBar* errors_;
  ProgressRow* progress_;
  QLabel* what_if_text_;
  TopBar* top_bar_;
  QTabBar* modes_;
  CommandPalette* palette_;
  SessionKeeper* keeper_ = nullptr;  // null: nothing is stored
};

}  // namespace midscope
