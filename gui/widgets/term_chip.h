// SPDX-License-Identifier: GPL-3.0-or-later
// A card of one term: a switch, a button with its name and parameters (a click opens the form, a
// drag moves the card), and a menu of actions on the card.
#pragma once

#include <QFrame>
#include <QPoint>

class QCheckBox;
class QMenu;
class QToolButton;

namespace midscope {

class TermChip : public QFrame {
  Q_OBJECT

 public:
  // `index`: index of the card, used in the object names of its widgets.
  explicit TermChip(size_t index, QWidget* parent = nullptr);

  // `text`: shown on the card; `full`: the printed term, for the tooltip; `warning`: why the term
  // does not fit the model, or "" if it does.
  void ShowTerm(const QString& text, const QString& full, bool on, const QString& warning);
  // Whether the term is a suggestion, which is not struck out while it is off.
  void SetSuggested(bool suggested) { suggested_ = suggested; }
  void SetOpen(bool open);
  bool open() const;
  QString text() const;  // without elision
  QString warning() const { return warning_; }
  QToolButton* face() const { return face_; }
  QMenu* menu() const { return menu_; }

 Q_SIGNALS:
  void Toggled(bool on);
  void OpenChanged(bool open);
  void RemoveRequested();
  void DuplicateRequested();
  // Requests a move by one place among the cards of its kind: -1 or 1 (Alt+Left, Alt+Right).
  void MoveRequested(int by);
  // Emitted during a drag and at its end, with the pointer in global coordinates.
  void Dragged(const QPoint& position);
  void Dropped(const QPoint& position);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool OnMouse(QEvent* event);
  bool OnKey(QEvent* event);
  void RefreshFace();

  QCheckBox* switch_;
  QToolButton* face_;
  QToolButton* more_;
  QMenu* menu_;
  QString text_;
  QString warning_;
  QPoint pressed_;
  bool dragging_ = false;
  bool suggested_ = false;
};

}  // namespace midscope
