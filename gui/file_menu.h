// SPDX-License-Identifier: GPL-3.0-or-later
// The File menu: models, results, sessions, pictures and recent files.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "gui/base/newest_reply.h"
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

// State that the menu reads and changes. All of it must outlive the menu.
struct FileMenuContext {
  Session* session = nullptr;
  SettingHistory* history = nullptr;
  TriedSettings* tried = nullptr;
  ModelPanel* model = nullptr;
  PromptPanel* prompt = nullptr;
  ErrorBar* errors = nullptr;
  DockArea* docks = nullptr;  // their arrangement is stored in sessions
  ActionRegistry* actions = nullptr;
  Selection* selection = nullptr;  // stored in sessions
  std::vector<Panel*> panels;      // of PanelList(); their state is stored in sessions
};

class FileMenu : public QObject {
  Q_OBJECT

 public:
  // Registers the actions of the menu `file`. `parent`: parent of the dialogs; the action Quit
  // closes it.
  FileMenu(FileMenuContext context, QWidget* parent);
  ~FileMenu() override;

  // Restores recent files and the options of the model from this file, and stores changes in it.
  // Recent files and options are not stored before this call.
  void Remember(const QString& file);
  static QString UsualSettingsFile();

  // Opens a model, a session (.midscope) or a results file (.h5); results are read asynchronously
  // (ResultsOpened). Errors are shown on the error bar.
  void OpenPath(const QString& path);
  // Opens a results file of any name asynchronously; errors are shown on the error bar.
  void OpenResults(const QString& path);
  // Opens several paths: the first session or model and all results files; each further session
  // or model is an error.
  void OpenPaths(const QStringList& paths);
  // Opens a second model for B (ModelPanel::SecondRequest); errors are shown on the error bar.
  void OpenSecond(const QString& model);
  // Makes B the model of A with a LoRA adapter, FOLDER or FOLDER:SCALE; shows errors on the bar.
  void OpenAdapter(const QString& adapter);
  void OpenSession(const QString& path);
  // Discards results that are still being read.
  void StopOpening() { opening_.clear(); }
  void SaveSession(const QString& path);
  SavedSession session() const;
  void Apply(const SavedSession& session);
  // Saves the records on the screen; the error bar names the omitted ones.
  void SaveResultsTo(const QString& path);
  // Writes a page of the shown results file, or of the records on the screen, with `midscope
  // report`; replaces an existing file. StatusChanged follows.
  void WriteReport(const QString& path);
  // Opens a folder dialog and emits ExportRequested.
  void ChooseExport();
  // Whether a results file is being read.
  bool opening() const { return !opening_.isEmpty(); }
  bool writes_report() const { return report_.runs(); }
  QStringList recent() const { return recent_; }
  // The menu of recent files.
  QMenu* recent_menu() const { return recent_menu_.get(); }
  // Sets whether a start without a model or a file restores the last session.
  void SetReopensLast(bool reopens) { reopens_last_ = reopens; }
  bool reopens_last() const { return reopens_last_; }
  // Sets the initial folder of file dialogs; "": the last used folder.
  void SetFolder(const QString& folder) { folder_ = folder; }
  const QString& folder() const { return folder_; }
  // The window's persistent settings; nullptr if nothing is stored.
  QSettings* settings() const { return settings_.get(); }

 Q_SIGNALS:
  // Emitted when a results file is shown, or its error is on the error bar.
  void ResultsOpened();
  // Emitted when the model described in the model panel is to be opened.
  void OpenRequested();
  void ExportRequested(const QString& folder);
  // The menu's current operation; "": none.
  void StatusChanged(const QString& text);

 private:
  // The path for later use: absolute, unless it may be one of another machine.
  QString LastingPath(const QString& path) const;
  void OpenWaiting();
  Q_INVOKABLE void RestoreWaitingView();
  void ShowResults(const QString& path, OpenedResults& results);
  void Register();
  void FillRecent();
  void NoteRecent(const QString& path);
  void NoteModel();

  FileMenuContext context_;
  QWidget* parent_;
  std::unique_ptr<QMenu> recent_menu_;
  QStringList recent_;  // newest first
  std::unique_ptr<QSettings> settings_;
  bool reopens_last_ = false;
  QString folder_;
  QString noted_model_;  // the open model, once it is among the recent files
  // State while a session is being opened: the results files to open, which of them is shown when
  // all are open ("": the model), and the view, which is restored when the prompts exist (null:
  // none).
  QStringList waiting_documents_;
  std::optional<QString> document_to_show_;  // nullopt: no session is being opened
  nlohmann::json waiting_view_;
  nlohmann::json rest_of_view_;  // restored when A's run is done; null: nothing remains
  QString opening_;              // results being read; empty: none
  NewestReply<QString, OpenedResults> opener_;
  ReportProcess report_;
};

}  // namespace midscope
