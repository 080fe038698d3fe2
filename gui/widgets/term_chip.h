// SPDX-License-Identifier: GPL-3.0-or-later
// A card of one term: a switch, its name and parameters (press: opens its form; drag: moves it),
// and a menu of what can be done with it.
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
  // `index`: of the card, in the names of its widgets.
  explicit TermChip(size_t index, QWidget* parent = nullptr);

  // `text`: as a card; `full`: the term as it is written, for the tooltip; `warning`: why the model
  // cannot take it, "" where it can.
  void ShowTerm(const QString& text, const QString& full, bool on, const QString& warning);
  void SetOpen(bool open);
  bool open() const;
  QString text() const;  // not elided
  QString warning() const { return warning_; }
  QToolButton* face() const { return face_; }
  QMenu* menu() const { return menu_; }

 Q_SIGNALS:
  void Toggled(bool on);
  void OpenChanged(bool open);
  void RemoveRequested();
  void DuplicateRequested();
  // By one place among the cards of its kind: -1, 1 (Alt+Left, Alt+Right).
  void MoveRequested(int by);
  // While it is dragged, and when it is dropped, in global coordinates.
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
};

}  // namespace midscope
