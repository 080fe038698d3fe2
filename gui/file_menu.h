// SPDX-License-Identifier: GPL-3.0-or-later
// The File menu: models, results, sessions and pictures, and what is remembered of them from start
// to start.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "gui/session_file.h"

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

  // A model, a session (.midscope) or a file of results (.h5). Errors go to the error bar.
  void OpenPath(const QString& path);
  void OpenSession(const QString& path);
  void SaveSession(const QString& path);
  SavedSession session() const;
  void Apply(const SavedSession& session);
  QStringList recent() const { return recent_; }

 private:
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
};

}  // namespace midscope
