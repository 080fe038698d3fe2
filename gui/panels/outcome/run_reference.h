// SPDX-License-Identifier: GPL-3.0-or-later
// Another run as lines beside the outcome: without the documents (closed book), with the one that
// answers alone (the oracle), of another model.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "core/base/record.h"
#include "gui/base/newest_request.h"

namespace midscope {

// Record published_reference (data/published/published_record.h) of the means in files of
// `midscope sweep`, a line per file and setting ("closed_book.h5: none"), with answer_nll [line,
// point] beside accuracy; NaN for what a run has not. A run of one place has one point, which holds
// for all places: its `place` is NaN. Attributes: runs ("yes"; tables have none), table (the files'
// names), title (their tasks). Throws Error (failure) where a file can't be read or has no outcome
// by place.
Record RunReference(const QStringList& paths);

// RunReference of files, on a thread of its own. Newer paths supersede waiting ones.
class RunReferenceReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QStringList paths;
    Record reference;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit RunReferenceReader(QObject* parent = nullptr);

  void Ask(const QStringList& paths) { thread_.Ask(paths); }

 Q_SIGNALS:
  // Emitted on the reader's thread.
  void Replied(midscope::RunReferenceReader::ReplyPointer reply);

 private:
  NewestRequest<QStringList> thread_;
};

}  // namespace midscope
