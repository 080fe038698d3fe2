// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/parameter_field.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <cmath>
#include <memory>
#include <utility>

#include "core/base/text.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/input_boxes.h"

namespace midscope {
namespace {

using Edited = std::function<void()>;

QString Shown(const std::string& text) { return QString::fromStdString(text); }

bool IsNumberText(const std::string& text) {
  double number = 0;
  return ReadWhole(text, number);
}

bool HasDefault(const Parameter& parameter) {
  return !std::holds_alternative<std::monostate>(parameter.default_value);
}

NumberRange RangeOf(const Parameter& number, bool may_be_empty) {
  return {number.minimum, number.maximum, number.kind == ParameterKind::kWholeNumber, may_be_empty};
}

ParameterField MakeFlag(QWidget* parent, const Edited& edited) {
  auto* box = new QCheckBox(parent);
  QObject::connect(box, &QCheckBox::toggled, parent, edited);
  return {box, box, [box] { return std::string(box->isChecked() ? "true" : "false"); },
          [box](const std::string& text) {
            box->setChecked(text == "true");
            return true;
          }};
}

ParameterField MakeNumber(const Parameter& parameter, FieldText kind, QWidget* parent,
                          const Edited& edited) {
  const bool may_be_empty = kind == FieldText::kTerm || !HasDefault(parameter);
  auto* box = new NumberBox(RangeOf(parameter, may_be_empty), parent);
  if (!parameter.unit.empty()) box->setSuffix(' ' + Shown(parameter.unit));
  QObject::connect(box, &NumberBox::valueChanged, parent, edited);
  return {box, box, [box] { return box->Text(); },
          [box](const std::string& text) {
            if (!text.empty() && !IsNumberText(text)) return false;
            if (box->Text() != text) box->SetText(text);
            return true;
          }};
}

constexpr double kSliderSteps = 100;  // slider steps per unit

// Adds a slider beside the number box of `field`. The box holds the value; it also accepts values
// outside the slider's range.
ParameterField WithSlider(ParameterField field, const Parameter& parameter, QWidget* parent,
                          const Edited& edited) {
  auto* both = new QWidget(parent);
  auto* box = static_cast<NumberBox*>(field.input);
  auto* slider = new QSlider(Qt::Horizontal, both);
  slider->setRange(static_cast<int>(std::lround(parameter.slider.first * kSliderSteps)),
                   static_cast<int>(std::lround(parameter.slider.last * kSliderSteps)));
  slider->setPageStep(static_cast<int>(kSliderSteps / 4));
  const auto follow = [box, slider] {
    const QSignalBlocker quiet(slider);
    slider->setValue(static_cast<int>(std::lround(box->value() * kSliderSteps)));
  };
  QObject::connect(box, &NumberBox::valueChanged, slider, follow);
  QObject::connect(slider, &QSlider::valueChanged, box,
                   [box](int steps) { box->SetText(NumberText(steps / kSliderSteps)); });
  // Reports the last value again, now that the drag has ended.
  QObject::connect(slider, &QSlider::sliderReleased, parent, edited);
  auto* row = WithoutMargins(new QHBoxLayout(both));
  row->addWidget(slider, 1);
  row->addWidget(box);
  field.widget = both;
  field.slider = slider;
  return field;
}

// A combo box of choices. One of them may represent a number, which is in a box beside it.
struct ChoiceField {
  QComboBox* box = nullptr;
  NumberBox* number = nullptr;  // null: no choice represents a number
  int numbered = -1;            // index of the choice that represents the number
  std::string prefix = {};      // text before the number: "last:"
  QString by_default = {};
  // Printed settings omit some defaults. The field omits them too, because otherwise its text would
  // never equal a printed setting.
  std::shared_ptr<bool> left_out = std::make_shared<bool>(false);

  std::string Text() const {
    if (*left_out && box->currentText() == by_default) return "";
    if (number && box->currentIndex() == numbered) return prefix + number->Text();
    return box->currentText().toStdString();
  }

  bool Show(const std::string& value) const {
    *left_out = value.empty() && !by_default.isEmpty();
    const QString text = *left_out ? by_default : Shown(value);
    int index = box->findText(text, Qt::MatchExactly | Qt::MatchCaseSensitive);
    const std::string after = text.mid(static_cast<qsizetype>(prefix.size())).toStdString();
    if (number && text.startsWith(Shown(prefix)) && IsNumberText(after)) {
      number->SetText(after);
      index = numbered;
    }
    if (index < 0) return false;
    box->setCurrentIndex(index);
    return true;
  }
};

ParameterField MakeChoice(const Parameter& parameter, QWidget* parent, const Edited& edited) {
  auto* both = new QWidget(parent);
  ChoiceField field;
  field.box = new QComboBox(both);
  field.by_default = Shown(ParameterText(parameter.default_value));
  if (!HasDefault(parameter) && !parameter.required) field.box->addItem(QString());
  for (const std::string& choice : parameter.choices) {
    if (choice == parameter.numbered_choice) {
      field.numbered = field.box->count();
      field.prefix = choice.substr(0, choice.size() - 1);
    }
    field.box->addItem(Shown(choice));
  }
  if (IsNumber(parameter)) {
    field.numbered = field.box->count();
    field.box->addItem(QObject::tr("number"));
  }
  auto* row = WithoutMargins(new QHBoxLayout(both));
  row->addWidget(field.box, 1);
  if (field.numbered >= 0) {
    const Parameter number = IsNumber(parameter) ? parameter : NumberInChoice(parameter);
    field.number = new NumberBox(RangeOf(number, false), both);
    field.number->SetText("16");
    field.number->setToolTip(QObject::tr("Number used in this choice"));
    field.number->hide();
    row->addWidget(field.number);
    QObject::connect(field.number, &NumberBox::valueChanged, parent, edited);
    QObject::connect(field.box, &QComboBox::currentIndexChanged, field.number,
                     [number_box = field.number, numbered = field.numbered](int index) {
                       number_box->setVisible(index == numbered);
                     });
  }
  QObject::connect(field.box, &QComboBox::currentIndexChanged, parent, edited);
  return {both, field.box, [field] { return field.Text(); },
          [field](const std::string& value) { return field.Show(value); }};
}

// Returns the value of an empty field: the default, or its description in the help.
QString EmptyText(const Parameter& parameter) {
  const QString value = Shown(ParameterText(parameter.default_value));
  const QString help = Shown(parameter.help);
  const QString mark = QStringLiteral("default: ");
  const qsizetype at = help.lastIndexOf(mark);
  return value.isEmpty() && at >= 0 ? help.mid(at + mark.size()) : value;
}

ParameterField MakeText(const Parameter& parameter, FieldText kind, QWidget* parent,
                        const Edited& edited) {
  auto* box = new TextBox(parent);
  const bool trimmed = kind == FieldText::kTerm;
  box->lineEdit()->setPlaceholderText(EmptyText(parameter));
  QObject::connect(box, &TextBox::editTextChanged, parent, edited);
  return {box, box,
          [box, trimmed] {
            return (trimmed ? box->currentText().trimmed() : box->currentText()).toStdString();
          },
          [box](const std::string& text) {
            if (box->currentText() == Shown(text)) return true;
            box->setEditText(Shown(text));
            box->lineEdit()->setCursorPosition(0);
            return true;
          }};
}

ParameterField MakeLine(QWidget* parent, const Edited& edited) {
  auto* edit = new QLineEdit(parent);
  QObject::connect(edit, &QLineEdit::textChanged, parent, edited);
  return {edit, edit, [edit] { return edit->text().toStdString(); },
          [edit](const std::string& text) {
            if (edit->text() != Shown(text)) edit->setText(Shown(text));
            return true;
          }};
}

ParameterField MakePath(FieldText kind, QWidget* parent, const Edited& edited,
                        const ChooseFile& choose) {
  auto* both = new QWidget(parent);
  ParameterField field = MakeLine(both, edited);
  auto* browse = new QToolButton(both);
  browse->setText(QObject::tr("…"));
  browse->setToolTip(QObject::tr("Choose a file"));
  auto* row = WithoutMargins(new QHBoxLayout(both));
  row->addWidget(field.input, 1);
  row->addWidget(browse);
  const std::string mark = kind == FieldText::kTerm ? "\"" : "";
  QObject::connect(browse, &QToolButton::clicked, both, [both, mark, show = field.show, choose] {
    const QString path = choose ? choose(both) : QFileDialog::getOpenFileName(both);
    if (!path.isEmpty()) show(mark + path.toStdString() + mark);
  });
  field.widget = both;
  return field;
}

}  // namespace

ParameterField MakeField(const Parameter& parameter, FieldText kind, const std::string& value,
                         QWidget* parent, const std::function<void()>& edited,
                         const ChooseFile& choose) {
  if (!parameter.choices.empty()) return MakeChoice(parameter, parent, edited);
  switch (parameter.kind) {
    case ParameterKind::kFlag:
      return MakeFlag(parent, edited);
    case ParameterKind::kWholeNumber:
    case ParameterKind::kNumber:
      if (parameter.several && !value.empty() && !IsNumberText(value)) break;
      return parameter.slider.first == parameter.slider.last
                 ? MakeNumber(parameter, kind, parent, edited)
                 : WithSlider(MakeNumber(parameter, kind, parent, edited), parameter, parent,
                              edited);
    case ParameterKind::kFile:
      return MakePath(kind, parent, edited, choose);
    case ParameterKind::kTextList: {
      ParameterField field = MakeLine(parent, edited);
      static_cast<QLineEdit*>(field.input)->setPlaceholderText(QObject::tr("several: one; two"));
      return field;
    }
    default:
      break;
  }
  return MakeText(parameter, kind, parent, edited);
}

void OfferTexts(const ParameterField& field, const QStringList& texts, TextBox::Notes notes) {
  if (auto* box = qobject_cast<TextBox*>(field.input)) box->Offer(texts, std::move(notes));
}

QString FieldLabel(const Parameter& parameter) {
  return Shown(parameter.name).replace('-', QLatin1Char(' ')).replace('_', QLatin1Char(' '));
}

QString ParameterTooltip(const Parameter& parameter) {
  QString tip = Shown(parameter.help).toHtmlEscaped();
  const auto add = [&tip](const QString& line, const std::string& value) {
    if (!value.empty()) tip += QStringLiteral("<br>") + line.arg(Shown(value).toHtmlEscaped());
  };
  add(QObject::tr("allowed: %1"), AllowedText(parameter));
  add(QObject::tr("in %1"), parameter.unit);
  add(QObject::tr("default: %1"), ParameterText(parameter.default_value));
  return QStringLiteral("<p>") + tip + QStringLiteral("</p>");
}

}  // namespace midscope
