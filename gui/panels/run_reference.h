// SPDX-License-Identifier: GPL-3.0-or-later
// Another run as lines beside the outcome: without the documents (closed book), with the one that
// answers alone (the oracle), of another model.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "gui/base/newest_request.h"

namespace midscope {

// Record published_reference (data/published/published_record.h) of a run's means, a line per
// setting, with answer_nll [line, point] beside accuracy; NaN for what the run has not. A run of
// one place has one point, which holds for all places: its `place` is NaN. `path`: of the run's
// file, whose name is the attribute `table`. Throws Error (failure) where the run has no outcome by
// place.
Record RunReference(const RunFile& run, const QString& path);

// RunReference of files, on a thread of its own. A newer path supersedes a waiting one.
class RunReferenceReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QString path;
    Record reference;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit RunReferenceReader(QObject* parent = nullptr);

  void Ask(const QString& path) { thread_.Ask(path); }

 Q_SIGNALS:
  // Emitted on the reader's thread.
  void Replied(midscope::RunReferenceReader::ReplyPointer reply);

 private:
  NewestRequest<QString> thread_;
};

}  // namespace midscope
