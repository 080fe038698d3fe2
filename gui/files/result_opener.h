// SPDX-License-Identifier: GPL-3.0-or-later
// Opens files of results on a thread of its own: their checksums take seconds where they are large.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "data/sweep/sample_view.h"
#include "gui/base/newest_request.h"

namespace midscope {

class ResultOpener : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QString path;
    RunFile overview;
    std::shared_ptr<const SampleView> samples;
    QString failure;  // empty: there is none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit ResultOpener(QObject* parent = nullptr);

  // The newest path wins; an older one comes back only where its reading had begun.
  void Open(const QString& path) { thread_.Ask(path); }

 Q_SIGNALS:
  // Emitted on the opener's thread.
  void Opened(midscope::ResultOpener::ReplyPointer reply);

 private:
  NewestRequest<QString> thread_;
};

}  // namespace midscope
