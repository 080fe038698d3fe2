// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a setting as its line of text. It takes effect on Enter or when the focus leaves, because
// partly typed text is often a valid other setting. Text that can't be parsed is kept, with the
// error (and its column) below; text that has not taken effect yet is marked.
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

  // Shows the setting without emitting a signal; text that is being edited is kept if it means the
  // same.
  void SetIntervention(const Intervention& intervention);
  // A name beside the letter; "": none.
  void SetName(const QString& name);
  // Sets the whole line as if it were typed and Enter pressed: it takes effect, or is kept with its
  // error.
  void Enter(const QString& text);
  // Sets the whole line. Returns the setting that it means, without emitting a signal; nullopt
  // where it can't be parsed: it is kept with its error.
  std::optional<Intervention> Take(const QString& text);
  QLineEdit* edit() const { return edit_; }
  QString error() const;

 Q_SIGNALS:
  void Edited(const midscope::Intervention& intervention);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void ShowText();
  // Returns whether the text can be parsed; shows its error, or that Enter is awaited.
  void OnEdited(const QString& text);
  void OnFinished();
  std::optional<Intervention> Accept();
  void ShowNote(const QString& note, bool error);

  QString letter_;
  QLabel* label_;
  QLineEdit* edit_;
  QLabel* error_;        // or that Enter is awaited
  bool failed_ = false;  // whether error_ shows an error
  Intervention shown_;
};

}  // namespace midscope
