// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>
#include <memory>

#include "core/base/number_text.h"
#include "gui/widgets/knob_help.h"
#include "gui/widgets/number_box.h"
#include "gui/widgets/text_box.h"

namespace midscope {
namespace {

// Whether a choice such as "last:N", "N" (a whole number) or "M" (any number) has a placeholder for
// a number after a prefix.
bool HasNumber(const QString& choice) {
  return choice.endsWith(QLatin1String(":N")) || choice == QLatin1String("N") ||
         choice == QLatin1String("M");
}

NumberRange RangeOf(const TermArgument& argument) {
  constexpr double kFar = 1 << 20;
  const bool whole = argument.choices.empty() || argument.choices.back() != "M";
  const bool described = argument.minimum < argument.maximum;
  return {described ? argument.minimum : -kFar, described ? argument.maximum : kFar, whole, false};
}

bool IsNumber(const std::string& text) {
  double number = 0;
  return ReadWhole(text, number);
}

bool IsFile(const TermArgument& argument) { return argument.name == "file"; }

}  // namespace

TermForm::TermForm(const TermText& term, const TermOffers& offers, QWidget* parent)
    : QWidget(parent), term_(term.term) {
  auto* layout = new QFormLayout(this);
  layout->setContentsMargins(14, 0, 0, 4);
  layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (size_t i = 0; i < term_->arguments.size(); ++i) {
    const TermArgument& argument = term_->arguments[i];
    Field field = MakeField(i, term.values[i]);
    field.widget->setObjectName(
        QString::fromStdString("term_" + term_->name + "_" + argument.name));
    const QString tip = TermHelp(term_->name.c_str());
    field.widget->setToolTip(ArgumentHelp(argument));
    QString name = QString::fromStdString(argument.name);
    auto* label = new QLabel(name.replace(QLatin1Char('_'), QLatin1Char(' ')), this);
    label->setToolTip(tip);
    layout->addRow(label, field.widget);
    fields_.push_back(std::move(field));
  }
  if (term_->arguments.empty()) layout->addRow(new QLabel(tr("nothing to set"), this));
  SetOffers(offers);
  SetValue(term);
}

TermForm::Field TermForm::MakeField(size_t argument, const std::string& value) {
  const TermArgument& described = term_->arguments[argument];
  if (!described.choices.empty()) return MakeChoice(argument);
  const bool number = described.minimum < described.maximum && (value.empty() || IsNumber(value));
  return number ? MakeNumber(argument) : MakeText(argument);
}

TermForm::Field TermForm::MakeNumber(size_t argument) {
  const TermArgument& described = term_->arguments[argument];
  auto* box = new NumberBox(
      {described.minimum, described.maximum, TakesWholeNumbers(*term_, argument), true}, this);
  if (!described.unit.empty()) box->setSuffix(' ' + QString::fromStdString(described.unit));
  connect(box, &NumberBox::valueChanged, this, [this, argument] { OnArgumentEdited(argument); });
  return {box, [box] { return box->Text(); },
          [box](const std::string& text) {
            if (!text.empty() && !IsNumber(text)) return false;
            const QSignalBlocker quiet(box);
            if (box->Text() != text) box->SetText(text);
            return true;
          }};
}

TermForm::Field TermForm::MakeChoice(size_t argument) {
  const TermArgument& described = term_->arguments[argument];
  auto* both = new QWidget(this);
  auto* box = new QComboBox(both);
  auto* number = new NumberBox(RangeOf(described), both);
  number->SetText("16");
  number->setToolTip(tr("Number used in this choice"));
  number->hide();
  for (const std::string& choice : described.choices) box->addItem(QString::fromStdString(choice));
  auto* row = new QHBoxLayout(both);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(box, 1);
  row->addWidget(number);
  connect(box, &QComboBox::currentTextChanged, this,
          [this, number, argument](const QString& choice) {
            number->setVisible(HasNumber(choice));
            OnArgumentEdited(argument);
          });
  connect(number, &NumberBox::valueChanged, this, [this, argument] { OnArgumentEdited(argument); });
  // Printed settings omit some defaults; so does the form, or the two would never be equal.
  const auto left_out = std::make_shared<bool>(false);
  const QString otherwise = QString::fromStdString(described.default_text);
  return {both,
          [box, number, left_out, otherwise] {
            std::string choice = box->currentText().toStdString();
            if (*left_out && box->currentText() == otherwise) return std::string();
            if (!HasNumber(box->currentText())) return choice;
            return choice.substr(0, choice.size() - 1) + number->Text();
          },
          [box, number, left_out, otherwise](const std::string& value) {
            *left_out = value.empty();
            const QString text = *left_out ? otherwise : QString::fromStdString(value);
            for (int i = 0; i < box->count(); ++i) {
              const QString choice = box->itemText(i);
              const QString prefix = choice.chopped(1);
              const std::string after = text.mid(prefix.size()).toStdString();
              const bool numbered = HasNumber(choice) && text.startsWith(prefix) && IsNumber(after);
              if (!numbered && choice != text) continue;
              if (numbered) number->SetText(after);
              box->setCurrentIndex(i);
              return true;
            }
            return false;
          }};
}

TermForm::Field TermForm::MakeText(size_t argument) {
  const TermArgument& described = term_->arguments[argument];
  auto* both = new QWidget(this);
  auto* box = new TextBox(both);
  box->lineEdit()->setPlaceholderText(QString::fromStdString(described.default_text));
  auto* row = new QHBoxLayout(both);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(box, 1);
  const auto show = [box](const std::string& text) {
    const QString shown = QString::fromStdString(text);
    if (box->currentText() != shown) box->setEditText(shown);
    return true;
  };
  if (IsFile(described)) {
    auto* browse = new QToolButton(both);
    browse->setText(tr("…"));
    browse->setToolTip(tr("Choose a file"));
    row->addWidget(browse);
    connect(browse, &QToolButton::clicked, this, [this, show] {
      const QString path = QFileDialog::getOpenFileName(this);
      if (!path.isEmpty()) show('"' + path.toStdString() + '"');
    });
  }
  connect(box, &TextBox::editTextChanged, this, [this, argument] { OnArgumentEdited(argument); });
  return {both, [box] { return box->currentText().trimmed().toStdString(); }, show};
}

void TermForm::OnArgumentEdited(size_t argument) {
  if (!quiet_) Q_EMIT Changed(static_cast<int>(argument));
}

TermText TermForm::value() const {
  TermText term{term_, {}};
  for (const Field& field : fields_) term.values.push_back(field.text());
  return term;
}

bool TermForm::SetValue(const TermText& term) {
  if (term.term != term_) return false;
  quiet_ = true;
  bool shown = true;
  for (size_t i = 0; i < fields_.size(); ++i) shown = fields_[i].show(term.values[i]) && shown;
  quiet_ = false;
  return shown;
}

void TermForm::SetOffers(const TermOffers& offers) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const auto found = offers.find(term_->arguments[i].name);
    auto* box = fields_[i].widget->findChild<TextBox*>();
    if (found != offers.end() && box) box->Offer(found->second);
  }
}

}  // namespace midscope
