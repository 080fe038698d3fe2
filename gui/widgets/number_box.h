// SPDX-License-Identifier: GPL-3.0-or-later
// A number box that prints numbers as the command line does, in every locale. It may be empty if
// the number is optional. The wheel changes it only when it has the focus: scrolling a page must
// not change numbers.
#pragma once

#include <QDoubleSpinBox>
#include <string>

namespace midscope {

struct NumberRange {
  double minimum = 0;
  double maximum = 0;  // infinite: no limit
  bool whole = false;
  bool may_be_empty = false;
};

class NumberBox : public QDoubleSpinBox {
  Q_OBJECT

 public:
  explicit NumberBox(const NumberRange& range, QWidget* parent = nullptr);

  // The shortest text that parses to the same number; "" where it is empty.
  std::string Text() const;
  // A text that is not a number of the range leaves the box unchanged.
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

}  // namespace midscope
