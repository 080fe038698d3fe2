// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a setting as a line of text. The text takes effect on Enter or when the line loses the
// focus, because partly typed text is often another valid setting. Text that cannot be parsed is
// kept, with its error and column below; text that has not taken effect yet is marked.
#pragma once

#include <QWidget>
#include <optional>

#include "core/intervention/intervention.h"

class QLabel;
class QLineEdit;

namespace midscope {

class TextLine : public QWidget {
  Q_OBJECT

 public:
  TextLine(const QString& name, const QString& color, QWidget* parent = nullptr);

  // Shows the setting without emitting a signal; text that is being edited is kept if it denotes
  // the same setting.
  void SetIntervention(const Intervention& intervention);
  // Sets a name to show beside the letter; "": none.
  void SetName(const QString& name);
  // Sets the line as if the text were typed and Enter pressed: it takes effect, or is kept with its
  // error.
  void Enter(const QString& text);
  // Sets the line without emitting a signal and returns the setting that it denotes. If the text
  // cannot be parsed, it is kept with its error, and the result is nullopt.
  std::optional<Intervention> Take(const QString& text);
  QLineEdit* edit() const { return edit_; }
  QString error() const;

 Q_SIGNALS:
  void Edited(const midscope::Intervention& intervention);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void ShowText();
  // Returns whether the text can be parsed. Shows its error, or that Enter is awaited.
  void OnEdited(const QString& text);
  void OnFinished();
  std::optional<Intervention> Accept();
  void ShowNote(const QString& note, bool error);

  QString letter_;
  QLabel* label_;
  QLineEdit* edit_;
  QLabel* error_;        // shows the error, or that Enter is awaited
  bool failed_ = false;  // whether error_ shows an error
  Intervention shown_;
};

}  // namespace midscope
