// SPDX-License-Identifier: GPL-3.0-or-later
// Stores the requests in a session file while the window is used, so that the next start can
// continue, also after a crash.
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
  // `folder`: where the two files are. What the last start left becomes previous().
  SessionKeeper(Session* session, SettingHistory* history, FileMenu* files, const QString& folder);

  // The session file of the start before this one; "": there is none.
  QString previous() const;
  // Writes the current requests immediately. No effect before a model has answered.
  void Write();

 private:
  Session* session_;
  FileMenu* files_;
  QString folder_;
  QTimer timer_;
};

}  // namespace midscope
