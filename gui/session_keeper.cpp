// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session_keeper.h"

#include <QDir>
#include <QFile>
#include <QUndoStack>

#include "gui/base/display_text.h"
#include "gui/file_menu.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"

namespace midscope {
namespace {

constexpr int kQuietTime = 2000;  // milliseconds without a change before the file is written
constexpr QLatin1String kNow("/last.midscope");
constexpr QLatin1String kBefore("/previous.midscope");

}  // namespace

SessionKeeper::SessionKeeper(Session* session, SettingHistory* history, FileMenu* files,
                             const QString& folder)
    : QObject(files), session_(session), files_(files), folder_(folder) {
  if (QFile::exists(folder_ + kNow)) {
    QFile::remove(folder_ + kBefore);
    QFile::rename(folder_ + kNow, folder_ + kBefore);
  }
  timer_.setSingleShot(true);
  timer_.setInterval(kQuietTime);
  connect(&timer_, &QTimer::timeout, this, &SessionKeeper::Write);
  connect(session_, &Session::Changed, &timer_, qOverload<>(&QTimer::start));
  // Covers steps that do not change the session: switched-off terms, pins, marks, fields.
  connect(history->stack(), &QUndoStack::indexChanged, &timer_, qOverload<>(&QTimer::start));
}

QString SessionKeeper::previous() const {
  const QString file = folder_ + kBefore;
  return QFile::exists(file) ? file : QString();
}

// A prompt that cannot be read now is stored as soon as it can be. A full disk is reported only
// when the user saves.
void SessionKeeper::Write() {
  if (!session_->live().model) return;
  ErrorText([this] {
    QDir().mkpath(folder_);
    WriteSessionFile(folder_ + kNow, files_->session());
  });
}

}  // namespace midscope
