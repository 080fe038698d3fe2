// SPDX-License-Identifier: GPL-3.0-or-later
// The user's preferences. Each is described once in a list, which the dialog, the storage and the
// start of the program iterate over.
#pragma once

#include <QDialog>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <vector>

#include "core/base/parameter.h"

class QSettings;

namespace midscope {

class FileMenu;
class MainWindow;
class ParameterForm;
class Session;
class SettingHistory;

// Saves the requests to a session file while the window is used, so that the next start can
// continue, even after a crash.

class SessionKeeper : public QObject {
  Q_OBJECT

 public:
  // `folder`: contains the two session files. The file that the last start wrote becomes
  // previous().
  SessionKeeper(Session* session, SettingHistory* history, FileMenu* files, const QString& folder);

  // The session file written by the previous start; "" if there is none.
  QString previous() const;
  // Writes the current requests immediately. No effect until a model has answered.
  void Write();

 private:
  Session* session_;
  FileMenu* files_;
  QString folder_;
  QTimer timer_;
};

struct Preference {
  Parameter parameter;
  std::function<std::string(const MainWindow&)> read;
  // Sets the value; takes effect immediately.
  std::function<void(MainWindow&, const std::string&)> write;
  // The key under which it is stored; empty: it is stored elsewhere.
  QString key = {};
};

const std::vector<Preference>& Preferences();

// Applies the stored values. Preferences whose value cannot be read are unchanged.
void RestorePreferences(MainWindow& window, const QSettings& stored);
void StorePreferences(const MainWindow& window, QSettings& stored);

// All preferences as a form; each change takes effect immediately.
class PreferencesDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PreferencesDialog(MainWindow* window);

 private:
  void Apply();

  MainWindow* window_;
  ParameterForm* form_;
};

}  // namespace midscope
