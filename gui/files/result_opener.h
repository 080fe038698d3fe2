// SPDX-License-Identifier: GPL-3.0-or-later
// Opens files of results on a thread of its own: checksums of large files take seconds, and means
// over 100,000 samples tens of milliseconds.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "data/sweep/sample_view.h"
#include "gui/base/newest_request.h"
#include "gui/session/session_view.h"

namespace midscope {

class ResultOpener : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QString path;
    std::unique_ptr<SessionView> view;  // null: it could not be opened
    std::shared_ptr<const SampleView> samples;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<Reply>;

  explicit ResultOpener(QObject* parent = nullptr);

  // A newer path supersedes a waiting one; an older reply arrives only where its reading had begun.
  void Open(const QString& path) { thread_.Ask(path); }

 Q_SIGNALS:
  // Emitted on the opener's thread.
  void Opened(midscope::ResultOpener::ReplyPointer reply);

 private:
  NewestRequest<QString> thread_;
};

}  // namespace midscope
