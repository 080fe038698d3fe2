// SPDX-License-Identifier: GPL-3.0-or-later
// A setting as its one line of text, editable. It is in force on Enter or when the focus leaves:
// what is typed on the way is often another setting. Text that can't be read stays as it was typed,
// with the error (and its column) below; text that is not in force yet says so.
#pragma once

#include <QWidget>

#include "core/intervention/intervention.h"

class QLabel;
class QLineEdit;

namespace midscope {

class TextLine : public QWidget {
  Q_OBJECT

 public:
  TextLine(const QString& name, const QString& color, QWidget* parent = nullptr);

  // Says nothing to anybody; text that is being typed is left alone if it says the same.
  void SetIntervention(const Intervention& intervention);
  // As if a person had written the whole line: it is in force, or stays with its error below.
  void Enter(const QString& text);
  QLineEdit* edit() const { return edit_; }
  QString error() const;

 Q_SIGNALS:
  void Edited(const midscope::Intervention& intervention);

 private:
  // Whether the text can be read; shows its error, or that it waits for Enter.
  void OnEdited(const QString& text);
  void OnFinished();
  void ShowNote(const QString& note, bool error);

  QLineEdit* edit_;
  QLabel* error_;        // or that the text waits
  bool failed_ = false;  // whether it is an error
  Intervention shown_;
};

}  // namespace midscope
