// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: lays out the panels and connects them to the session.
#pragma once

#include <QMainWindow>
#include <memory>
#include <vector>

#include "gui/session/changes.h"
#include "probes/engine/engine.h"

class QLabel;

namespace midscope {

class ErrorBar;
class FileMenu;
class Selection;
class ModelPanel;
class Panel;
class Plot;
class ProgressRow;
class SampleBar;
class Session;
class SettingHistory;
class SettingsPanel;
class PromptPanel;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(std::unique_ptr<Engine> engine, QWidget* parent = nullptr);
  ~MainWindow() override;

  void OpenModel(const QString& model);
  // Opens the model that the panels describe.
  void Open();
  void OpenPath(const QString& path);  // a model, a session or a file of results, by its ending

  Session* session() const { return session_; }
  FileMenu* files() const { return files_; }
  ModelPanel* model() const { return model_; }
  PromptPanel* prompt_panel() const { return prompt_panel_; }
  SettingsPanel* settings() const { return settings_; }
  SettingHistory* history() const { return history_; }
  ErrorBar* errors() const { return errors_; }
  QLabel* what_if_text() const { return what_if_text_; }
  // One per entry of PanelList(), in its order.
  const std::vector<Panel*>& panels() const { return panels_; }
  // The panel of a class of the list.
  template <typename Shown>
  Shown* panel() const {
    return findChild<Shown*>();
  }
  // Brings the panel to the front where it is one of several tabs.
  void ShowPanel(Panel* panel);
  // What the panels draw now, in their order.
  std::vector<Plot*> plots() const;
  // Writes all plots into the folder in all formats; errors are shown on the error bar.
  void ExportTo(const QString& folder);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void Arrange();
  QWidget* MakeSide();
  QWidget* MakePictures();
  void MakeMenus();
  void WireSession();
  void WirePanels();
  void Refresh(Changes changes);
  void RefreshSettings();
  void ChoosePlace(qint64 place);
  void PutOnB(const QString& term);
  void PutOnKnob(const midscope::ChannelScaling& scaling);
  void Run();
  void ShowModel();
  void RefreshWaiting();
  void ShowWhatIf(const WhatIfCost& cost);

  Session* session_;
  SettingHistory* history_;
  Selection* selection_;
  FileMenu* files_;
  ModelPanel* model_;
  PromptPanel* prompt_panel_;
  SettingsPanel* settings_;
  std::vector<Panel*> panels_;
  SampleBar* samples_;
  ErrorBar* errors_;
  ProgressRow* progress_;
  QLabel* what_if_text_;
};

}  // namespace midscope
