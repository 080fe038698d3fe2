// SPDX-License-Identifier: GPL-3.0-or-later
// The File menu: models, results, sessions, pictures and recent files.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "gui/files/result_opener.h"
#include "gui/files/session_file.h"

class QMenu;
class QSettings;

namespace midscope {

class MainWindow;

class FileMenu : public QObject {
  Q_OBJECT

 public:
  FileMenu(MainWindow* window, QMenu* menu);
  ~FileMenu() override;

  // Stores recent files and the options of the model in this file, and restores those it holds.
  // Without this call nothing is stored.
  void Remember(const QString& file);
  static QString UsualSettingsFile();

  // Opens a model, a session (.midscope) or a file of results (.h5), which is read asynchronously
  // (ResultsOpened). Errors are shown on the error bar.
  void OpenPath(const QString& path);
  void OpenSession(const QString& path);
  // Results that are still being read are not shown.
  void StopOpening() { opening_.clear(); }
  void SaveSession(const QString& path);
  SavedSession session() const;
  void Apply(const SavedSession& session);
  // Writes what is on the screen; the error bar names what is left out.
  void SaveResultsTo(const QString& path);
  QStringList recent() const { return recent_; }

 Q_SIGNALS:
  // A file of results is shown, or its error is on the error bar.
  void ResultsOpened();

 private:
  void OpenResults(const QString& path);
  void ShowResults(const ResultOpener::ReplyPointer& reply);
  void Fill(QMenu* menu);
  void FillRecent();
  void NoteRecent(const QString& path);
  void NoteModel();
  void ChooseModel();
  void ChooseResults();
  void ChooseSave();
  void ChooseExport();
  void ChooseSession();
  void ChooseSaveSession();

  MainWindow* window_;
  QMenu* recent_menu_ = nullptr;
  QStringList recent_;  // newest first
  std::unique_ptr<QSettings> settings_;
  QString opening_;  // results that are being read; empty: none
  ResultOpener opener_;
};

}  // namespace midscope
