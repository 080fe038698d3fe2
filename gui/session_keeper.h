// SPDX-License-Identifier: GPL-3.0-or-later
// Saves the requests to a session file while the window is used, so that the next start can
// continue, even after a crash.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace midscope {

class FileMenu;
class Session;
class SettingHistory;

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

}  // namespace midscope
