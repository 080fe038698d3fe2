// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QStringList>

namespace midscope {

// A number box that prints numbers as the command line does, in every locale. It may be empty if
// the number is optional. The mouse wheel changes it only while it has the focus, so scrolling a
// page never changes numbers.

struct NumberRange {
  double minimum = 0;
  double maximum = 0;  // infinity: no limit
  bool whole = false;
  bool may_be_empty = false;
};

class NumberBox : public QDoubleSpinBox {
  Q_OBJECT

 public:
  explicit NumberBox(const NumberRange& range, QWidget* parent = nullptr);

  // The shortest text that parses to the box's number; "" if the box is empty.
  std::string Text() const;
  // No effect if the text is not a number in the range.
  void SetText(const std::string& text);
  bool empty() const;

  QString textFromValue(double value) const override;
  double valueFromText(const QString& text) const override;
  QValidator::State validate(QString& text, int& position) const override;
  void stepBy(int steps) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void wheelEvent(QWheelEvent* event) override;

 private:
  std::string WithoutUnit(const QString& text) const;

  NumberRange range_;
};

// A line of text that can be typed or chosen from a list.

class TextBox : public QComboBox {
  Q_OBJECT

 public:
  explicit TextBox(QWidget* parent = nullptr);

  // Returns one note per text, which the open list shows beside it; choosing an item does not
  // insert its note.
  using Notes = std::function<QStringList()>;
  // Replaces the list without changing the line's text or emitting a signal. `notes`: called
  // whenever the list is opened; null: no notes.
  void Offer(const QStringList& texts, Notes notes = nullptr);
  void showPopup() override;
  // The item data role of a note.
  static constexpr int kNoteRole = Qt::UserRole;

 private:
  Notes notes_;
};

}  // namespace midscope
