// SPDX-License-Identifier: GPL-3.0-or-later
// The File menu: models, results, sessions and pictures, and what is remembered of them from start
// to start.
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

  // From now on recent files and the options of the model are kept in this file, and those that it
  // holds are used. Without this call nothing is remembered.
  void Remember(const QString& file);
  static QString UsualSettingsFile();

  // A model, a session (.midscope) or a file of results (.h5), which comes a little later
  // (ResultsOpened). Errors go to the error bar.
  void OpenPath(const QString& path);
  void OpenSession(const QString& path);
  // Results that have not come yet are not shown any more.
  void StopOpening() { opening_.clear(); }
  void SaveSession(const QString& path);
  SavedSession session() const;
  void Apply(const SavedSession& session);
  // Writes what is on the screen; what is left out is told on the error bar.
  void SaveResultsTo(const QString& path);
  QStringList recent() const { return recent_; }

 Q_SIGNALS:
  // A file of results is on the screen, or its error on the bar.
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
  QString opening_;  // results that were asked for last and have not come; empty: none
  ResultOpener opener_;
};

}  // namespace midscope
