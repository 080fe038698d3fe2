// SPDX-License-Identifier: GPL-3.0-or-later
// Selects what is drawn beside the outcome: a published table and its rows, or the means of other
// runs' files. Hidden where no task is shown.
#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/published/published_tables.h"
#include "gui/panels/outcome/run_reference.h"
#include "gui/session/changes.h"

class QComboBox;

namespace midscope {

class Session;

class ReferenceRow : public QWidget {
  Q_OBJECT

 public:
  explicit ReferenceRow(Session* session, QWidget* parent = nullptr);

  void Refresh(Changes changes);
  // Reads the files on a thread and draws their means; what is wrong with one is the session's
  // Failed.
  void OpenRuns(const QStringList& paths);

  // Rows that are drawn together.
  struct RowChoice {
    QString text;
    std::vector<size_t> lines;
  };
  // All rows; then those of one model, where labels begin alike ("Vicuna", "Vicuna w/ Ms-PoE");
  // then each row.
  static std::vector<RowChoice> RowChoices(const std::vector<PublishedLine>& lines);

 Q_SIGNALS:
  // Emitted when the user has chosen a table.
  void Chosen();

 private:
  void AskForRuns();
  void OfferRuns(const Record& runs);
  void TakeRuns(const RunReferenceReader::ReplyPointer& reply);
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
  QStringList opening_;         // the runs' files that are being read; empty: none
  std::optional<Record> runs_;  // RunReference of the files that were chosen last
  RunReferenceReader reader_;
};

}  // namespace midscope
