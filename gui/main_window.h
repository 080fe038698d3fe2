// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: lays out the panels and connects them to the session.
#pragma once

#include <QMainWindow>
#include <memory>
#include <vector>

#include "probes/engine/engine.h"

class QLabel;
class QTabWidget;

namespace midscope {

class AttentionPanel;
class ChannelPanel;
class ErrorBar;
class FileMenu;
class HeadMapPanel;
class HeadSelection;
class ModelPanel;
class OutcomePanel;
class Plot;
class ProgressRow;
class RecordPanel;
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
  HeadSelection* selection() const { return selection_; }
  HeadMapPanel* head_map() const { return head_map_; }
  AttentionPanel* attention() const { return attention_; }
  ChannelPanel* channel() const { return channel_; }
  OutcomePanel* outcome() const { return outcome_; }
  RecordPanel* records() const { return records_; }
  // Tabs: outcome, records.
  QTabWidget* lower_right() const { return lower_right_; }
  SampleBar* samples() const { return samples_; }
  ErrorBar* errors() const { return errors_; }
  QLabel* what_if_text() const { return what_if_text_; }
  std::vector<Plot*> plots() const;
  // Writes all plots into the folder in all formats; errors are shown on the error bar.
  void ExportTo(const QString& folder);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void Arrange();
  void MakeMenus();
  void WireSession();
  void WirePanels();
  void Run();
  void ShowModel();
  void RefreshWaiting();
  void ShowWhatIf(const WhatIfCost& cost);

  Session* session_;
  SettingHistory* history_;
  HeadSelection* selection_;
  FileMenu* files_;
  ModelPanel* model_;
  PromptPanel* prompt_panel_;
  SettingsPanel* settings_;
  HeadMapPanel* head_map_;
  AttentionPanel* attention_;
  ChannelPanel* channel_;
  OutcomePanel* outcome_;
  RecordPanel* records_;
  QTabWidget* lower_right_;
  SampleBar* samples_;
  ErrorBar* errors_;
  ProgressRow* progress_;
  QLabel* what_if_text_;
};

}  // namespace midscope
