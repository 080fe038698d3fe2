// SPDX-License-Identifier: GPL-3.0-or-later
// The File menu: models, results, sessions, pictures and recent files.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "gui/files/result_file.h"
#include "gui/files/session_file.h"

class QMenu;
class QSettings;

namespace midscope {

class ActionRegistry;
class DockArea;
class ErrorBar;
class ModelPanel;
class Panel;
class PromptPanel;
class Selection;
class Session;
class SettingHistory;
class TriedSettings;

// State that the menu reads and changes. All outlive it.
struct FileMenuContext {
  Session* session = nullptr;
  SettingHistory* history = nullptr;
  TriedSettings* tried = nullptr;
  ModelPanel* model = nullptr;
  PromptPanel* prompt = nullptr;
  ErrorBar* errors = nullptr;
  DockArea* docks = nullptr;  // their arrangement is part of a session
  ActionRegistry* actions = nullptr;
  Selection* selection = nullptr;  // part of a session too
  std::vector<Panel*> panels;      // of PanelList(); their state is part of a session
};

class FileMenu : public QObject {
  Q_OBJECT

 public:
  // Registers the actions of the menu `file`. `parent`: of the dialogs; Quit closes it.
  FileMenu(FileMenuContext context, QWidget* parent);
  ~FileMenu() override;

  // Stores recent files and the options of the model in this file, and restores those it holds.
  // Without this call nothing is stored.
  void Remember(const QString& file);
  static QString UsualSettingsFile();

  // Opens a model, a session (.midscope) or a file of results (.h5), which is read asynchronously
  // (ResultsOpened). Errors are shown on the error bar.
  void OpenPath(const QString& path);
  // As above, for several paths: the first session and the first model, then all results.
  void OpenPaths(const QStringList& paths);
  void OpenSession(const QString& path);
  // Results that are still being read are not shown.
  void StopOpening() { opening_.clear(); }
  void SaveSession(const QString& path);
  SavedSession session() const;
  void Apply(const SavedSession& session);
  // Writes what is on the screen; the error bar names what is left out.
  void SaveResultsTo(const QString& path);
  // Opens a folder dialog; ExportRequested.
  void ChooseExport();
  // Whether a file of results is being read.
  bool opening() const { return !opening_.isEmpty(); }
  QStringList recent() const { return recent_; }
  // The menu of recent files.
  QMenu* recent_menu() const { return recent_menu_.get(); }
  // Whether a start without a model or a file goes on with the last work.
  void SetReopensLast(bool reopens) { reopens_last_ = reopens; }
  bool reopens_last() const { return reopens_last_; }
  // Where dialogs for files begin; "": where the last one was.
  void SetFolder(const QString& folder) { folder_ = folder; }
  const QString& folder() const { return folder_; }
  // Where the window keeps what it remembers; null: nowhere.
  QSettings* settings() const { return settings_.get(); }

 Q_SIGNALS:
  // A file of results is shown, or its error is on the error bar.
  void ResultsOpened();
  // The model that the model panel describes is to be opened.
  void OpenRequested();
  void ExportRequested(const QString& folder);
  // The menu's current work; empty: none.
  void StatusChanged(const QString& text);

 private:
  void OpenResults(const QString& path);
  void OpenWaiting();
  Q_INVOKABLE void RestoreWaitingView();
  void ShowResults(const ResultOpener::ReplyPointer& reply);
  void Register();
  void FillRecent();
  void NoteRecent(const QString& path);
  void NoteModel();
  void ChooseModel();
  void ChooseResults();
  void ChooseSave();
  void ChooseSession();
  void ChooseSaveSession();

  FileMenuContext context_;
  QWidget* parent_;
  std::unique_ptr<QMenu> recent_menu_;
  QStringList recent_;  // newest first
  std::unique_ptr<QSettings> settings_;
  bool reopens_last_ = false;
  QString folder_;
  QString noted_model_;  // the open model, once it is among the recent files
  // Set while a session is being opened: files of results, which of them is shown when all are open
  // ("": the model), and the view, restored once the prompts are there (null: none waits).
  QStringList waiting_documents_;
  std::optional<QString> document_to_show_;  // nullopt: no session is being opened
  nlohmann::json waiting_view_;
  nlohmann::json rest_of_view_;  // restored once A's run is done (null: nothing is left)
  QString opening_;              // results that are being read; empty: none
  ResultOpener opener_;
};

}  // namespace midscope
