// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/input_boxes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QAbstractItemView>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyle>
#include <QStyleOptionSpinBox>
#include <QStyledItemDelegate>
#include <QWheelEvent>

#include "core/base/text.h"

namespace midscope {

namespace {

// Limit for an unbounded range: all integers up to it are exact.
constexpr double kFarEnough = 9007199254740992;
constexpr int kDecimals = 12;

// Step of the arrow keys and the wheel: about a tenth of a number above 1, at least 0.1; in ranges
// of length 1 or less, 0.05.
double StepOf(const NumberRange& range, double value) {
  const double size = std::floor(std::log10(std::max(std::abs(value), 1.0)));
  if (range.whole) return std::max(1.0, std::pow(10, size - 2));
  return range.maximum - range.minimum <= 1 ? 0.05 : std::pow(10, size - 1);
}

}  // namespace

NumberBox::NumberBox(const NumberRange& range, QWidget* parent)
    : QDoubleSpinBox(parent), range_(range) {
  range_.minimum = std::max(range.minimum, -kFarEnough);
  range_.maximum = std::min(range.maximum, kFarEnough);
  setDecimals(range.whole ? 0 : kDecimals);
  // A value below the minimum represents an empty box.
  setRange(range_.may_be_empty ? range_.minimum - 1 : range_.minimum, range_.maximum);
  setKeyboardTracking(false);
  setFocusPolicy(Qt::StrongFocus);
  if (range_.may_be_empty) setValue(minimum());
}

bool NumberBox::empty() const { return range_.may_be_empty && value() < range_.minimum; }

std::string NumberBox::Text() const {
  if (empty()) return "";
  return range_.whole ? std::to_string(std::llround(value())) : NumberText(value());
}

void NumberBox::SetText(const std::string& text) {
  double number = 0;
  if (text.empty() && range_.may_be_empty) setValue(minimum());
  if (ReadWhole(text, number) && number >= range_.minimum && number <= range_.maximum) {
    setValue(number);
  }
}

std::string NumberBox::WithoutUnit(const QString& text) const {
  QString bare = text;
  if (!suffix().isEmpty() && bare.endsWith(suffix())) bare.chop(suffix().size());
  return bare.trimmed().toStdString();
}

QString NumberBox::textFromValue(double value) const {
  if (range_.may_be_empty && value < range_.minimum) return {};
  if (range_.whole) return QString::number(std::llround(value));
  return QString::fromStdString(NumberText(value));
}

double NumberBox::valueFromText(const QString& text) const {
  double number = 0;
  if (ReadWhole(WithoutUnit(text), number)) return number;
  return range_.may_be_empty ? minimum() : value();
}

QValidator::State NumberBox::validate(QString& text, int& /*position*/) const {
  const std::string bare = WithoutUnit(text);
  if (bare.empty()) return range_.may_be_empty ? QValidator::Acceptable : QValidator::Intermediate;
  static const std::string known = "0123456789+-.eE";
  if (bare.find_first_not_of(known) != std::string::npos) return QValidator::Invalid;
  double number = 0;
  const bool read = ReadWhole(bare, number) && (!range_.whole || std::floor(number) == number);
  const bool inside = read && number >= range_.minimum && number <= range_.maximum;
  return inside ? QValidator::Acceptable : QValidator::Intermediate;
}

void NumberBox::stepBy(int steps) {
  const double from = empty() ? range_.minimum : value();
  const double step = empty() ? 0 : StepOf(range_, from) * steps;
  setValue(std::clamp(from + step, range_.minimum, range_.maximum));
  selectAll();
}

QSize NumberBox::sizeHint() const { return minimumSizeHint(); }

// Wide enough for common numbers, not for the limits of an unbounded range.
QSize NumberBox::minimumSizeHint() const {
  QStyleOptionSpinBox option;
  initStyleOption(&option);
  const QString longest = QStringLiteral("-0.12345") + suffix();
  const QSize text(fontMetrics().horizontalAdvance(longest) + 6,
                   QDoubleSpinBox::sizeHint().height());
  return style()->sizeFromContents(QStyle::CT_SpinBox, &option, text, this);
}

void NumberBox::wheelEvent(QWheelEvent* event) {
  if (hasFocus()) {
    QDoubleSpinBox::wheelEvent(event);
  } else {
    event->ignore();
  }
}

namespace {

// Draws an item with its note: "cuda:0 — NVIDIA H100".
class NotedItemDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QString note = index.data(TextBox::kNoteRole).toString();
    if (!note.isEmpty()) option->text += QStringLiteral(" — ") + note;
  }
};

}  // namespace

TextBox::TextBox(QWidget* parent) : QComboBox(parent) {
  setEditable(true);
  setInsertPolicy(QComboBox::NoInsert);
  setCompleter(nullptr);  // completion would change typed text
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
}

void TextBox::Offer(const QStringList& texts, Notes notes) {
  const QSignalBlocker quiet(this);
  const QString before = currentText();
  clear();
  addItems(texts);
  setEditText(before);
  notes_ = std::move(notes);
  if (notes_ && !dynamic_cast<NotedItemDelegate*>(itemDelegate()))
    setItemDelegate(new NotedItemDelegate(this));
}

void TextBox::showPopup() {
  if (notes_) {
    const QStringList notes = notes_();
    for (int i = 0; i < count(); ++i) setItemData(i, notes.value(i), kNoteRole);
    // The list needs more width than the line because of the notes.
    view()->setMinimumWidth(view()->sizeHintForColumn(0) +
                            view()->verticalScrollBar()->sizeHint().width());
  }
  QComboBox::showPopup();
}

}  // namespace midscope
