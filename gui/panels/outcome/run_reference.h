// SPDX-License-Identifier: GPL-3.0-or-later
// Draws another run as lines beside the outcome, for example without the documents (closed book),
// with only the document that contains the answer (the oracle), or with another model.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "core/base/record.h"
#include "gui/base/newest_request.h"
#include "probes/client/result_files.h"

namespace midscope {

// Makes a record published_reference (data/published/published_record.h) from the means in files of
// `midscope sweep`, with one line per file and setting ("closed_book.h5: none"). It has answer_nll
// [line, point] in addition to accuracy; values that a run lacks are NaN. A run of one place has
// one point, which holds for all places, so its `place` is NaN. Attributes: runs ("yes"; absent for
// tables), table (the files' names), title (their tasks). Throws Error (failure) if a file cannot
// be read or has no outcome by place.
Record RunReference(const ResultFiles& files, const QStringList& paths);

// Computes RunReference on its own thread. Newer paths supersede waiting ones.
class RunReferenceReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QStringList paths;
    Record reference;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit RunReferenceReader(const ResultFiles& files, QObject* parent = nullptr);

  void Ask(const QStringList& paths) { thread_.Ask(paths); }

 Q_SIGNALS:
  // Emitted on the reader's thread.
  void Replied(midscope::RunReferenceReader::ReplyPointer reply);

 private:
  NewestRequest<QStringList> thread_;
};

}  // namespace midscope
