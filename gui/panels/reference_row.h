// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the published table, and its rows, that are drawn beside the outcome. Hidden where no
// table is of the shown task.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "gui/session/changes.h"

class QComboBox;

namespace midscope {

class Session;

class ReferenceRow : public QWidget {
  Q_OBJECT

 public:
  explicit ReferenceRow(Session* session, QWidget* parent = nullptr);

  void Refresh(Changes changes);

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
  void OfferTables();
  void OfferRows();
  void ShowReference();
  void Apply();
  const PublishedTable* table() const;

  Session* session_;
  QComboBox* tables_;
  QComboBox* rows_;
  std::string task_;
  std::vector<PublishedLine> lines_;
  std::vector<RowChoice> choices_;
};

}  // namespace midscope
