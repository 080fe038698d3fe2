// SPDX-License-Identifier: GPL-3.0-or-later
// Controls that select what is drawn beside the outcome: rows of a published table, or the means in
// the files of other runs. Hidden if no task is shown.
#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/published/published_tables.h"
#include "gui/base/newest_reply.h"
#include "gui/session/changes.h"
#include "probes/client/result_files.h"

class QComboBox;

namespace midscope {

class Session;

// Draws another run as lines beside the outcome, for example without the documents (closed book),
// with only the document that contains the answer (the oracle), or with another model.

// Makes a record published_reference (data/published/published_record.h) from the means in files of
// `midscope sweep`, with one line per file and setting ("closed_book.h5: none"). It has answer_nll
// [line, point] in addition to accuracy; values that a run lacks are NaN. A run of one place has
// one point, which holds for all places, so its `place` is NaN. Attributes: runs ("yes"; absent for
// tables), table (the files' names), title (their tasks). Throws Error (failure) if a file cannot
// be read or has no outcome by place.
Record RunReference(const ResultFiles& files, const QStringList& paths);

class ReferenceRow : public QWidget {
  Q_OBJECT

 public:
  explicit ReferenceRow(Session* session, QWidget* parent = nullptr);

  void Refresh(Changes changes);
  // Reads the files on a thread and draws their means; Session::Failed reports unreadable files.
  void OpenRuns(const QStringList& paths);

  // A choice of rows that are drawn together.
  struct RowChoice {
    QString text;
    std::vector<size_t> lines;
  };
  // Choices in this order: all rows; the rows of each model, whose labels begin alike ("Vicuna",
  // "Vicuna w/ Ms-PoE"); each single row.
  static std::vector<RowChoice> RowChoices(const std::vector<PublishedLine>& lines);

 Q_SIGNALS:
  // Emitted when the user has chosen a table.
  void Chosen();

 private:
  void AskForRuns();
  void OfferRuns(const Record& runs);
  struct ReadRuns {
    Record reference;
    QString failure;  // empty: none
  };
  void TakeRuns(const QStringList& paths, const ReadRuns& read);
  void OfferTables();
  void OfferRows();
  void ShowReference();
  void Apply();
  QString choice() const;
  const PublishedTable* table() const;
  bool IsRuns(const QString& name) const;

  Session* session_;
  QComboBox* tables_;
  QComboBox* rows_;
  std::string task_;
  std::vector<PublishedLine> lines_;
  std::vector<RowChoice> choices_;
  QStringList opening_;         // the run files being read; empty: none
  std::optional<Record> runs_;  // RunReference of the last chosen files
  NewestReply<QStringList, ReadRuns> reader_;
};

}  // namespace midscope
