// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/option_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <utility>

#include "gui/base/error_text.h"
#include "gui/widgets/number_box.h"
#include "gui/widgets/text_box.h"

namespace midscope {
namespace {

QLabel* MakeErrorLabel(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setStyleSheet(QStringLiteral("color: #d04040"));
  label->hide();
  return label;
}

void ShowError(QLabel* label, const QString& text) {
  label->setText(text);
  label->setVisible(!text.isEmpty());
}

QStringList Split(const QString& text) {
  QStringList parts;
  for (const QString& part : text.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
    parts << part.trimmed();
  }
  return parts;
}

std::string ShownText(const OptionDescription& option, const OptionValue& value) {
  if (option.type != OptionType::kTextList) return OptionValueText(value);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  std::string text;
  for (size_t i = 0; list && i < list->size(); ++i) text += (i > 0 ? "; " : "") + (*list)[i];
  return text;
}

}  // namespace

QString OptionTooltip(const OptionDescription& option) {
  QString tip = QString::fromStdString(option.help).toHtmlEscaped();
  const QString allowed = QString::fromStdString(AllowedText(option)).toHtmlEscaped();
  if (!allowed.isEmpty()) tip += QObject::tr("<br>allowed: %1").arg(allowed);
  const QString usual = QString::fromStdString(OptionValueText(option.default_value));
  if (!usual.isEmpty()) tip += QObject::tr("<br>default: %1").arg(usual.toHtmlEscaped());
  return QStringLiteral("<p>") + tip + QStringLiteral("</p>");
}

QString ChangedOptionsText(const OptionSet& options) {
  QStringList texts;
  for (const OptionDescription& option : options.descriptions()) {
    const OptionValue& value = options.Value(option.name);
    if (value == option.default_value) continue;
    texts << QString::fromStdString(option.name + " " + OptionValueText(value));
  }
  return texts.join(QStringLiteral(", "));
}

OptionForm::OptionForm(std::vector<OptionDescription> descriptions, QWidget* parent)
    : QWidget(parent), options_(std::move(descriptions)), check_error_(MakeErrorLabel(this)) {
  check_error_->setObjectName(QStringLiteral("form_error"));
  auto* layout = new QFormLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const OptionDescription& option : options_.descriptions()) AddField(option, layout);
  layout->addRow(check_error_);
  ShowAll();
}

void OptionForm::AddField(const OptionDescription& option, QFormLayout* layout) {
  Field field = MakeField(option);
  field.widget->setObjectName(QStringLiteral("option_") + QString::fromStdString(option.name));
  field.widget->setToolTip(OptionTooltip(option));
  field.error = MakeErrorLabel(this);
  QString name = QString::fromStdString(option.name);
  auto* label = new QLabel(name.replace(QLatin1Char('-'), QLatin1Char(' ')), this);
  label->setToolTip(field.widget->toolTip());
  label->setBuddy(field.widget);
  QWidget* shown = field.widget;
  if (option.type == OptionType::kFile) {
    shown = new QWidget(this);
    auto* row = new QHBoxLayout(shown);
    row->setContentsMargins(0, 0, 0, 0);
    auto* browse = new QToolButton(shown);
    browse->setText(tr("…"));
    browse->setToolTip(tr("Choose a file"));
    row->addWidget(field.widget, 1);
    row->addWidget(browse);
    connect(browse, &QToolButton::clicked, this, [this, show = field.show] {
      const QString path = QFileDialog::getOpenFileName(this);
      if (!path.isEmpty()) show(path.toStdString());
      Read();
    });
  }
  layout->addRow(label, shown);
  layout->addRow(field.error);
  fields_[option.name] = std::move(field);
}

OptionForm::Field OptionForm::MakeField(const OptionDescription& option) {
  const bool has_default = !std::holds_alternative<std::monostate>(option.default_value);
  switch (option.type) {
    case OptionType::kFlag: {
      auto* box = new QCheckBox(this);
      connect(box, &QCheckBox::toggled, this, &OptionForm::Read);
      return {box, [box] { return std::string(box->isChecked() ? "true" : "false"); },
              [box](const std::string& text) { box->setChecked(text == "true"); }};
    }
    case OptionType::kInteger:
    case OptionType::kNumber: {
      const bool whole = option.type == OptionType::kInteger;
      auto* box = new NumberBox({option.minimum, option.maximum, whole, !has_default}, this);
      if (!option.unit.empty()) box->setSuffix(' ' + QString::fromStdString(option.unit));
      connect(box, &NumberBox::valueChanged, this, &OptionForm::Read);
      return {box, [box] { return box->Text(); },
              [box](const std::string& text) { box->SetText(text); }};
    }
    case OptionType::kChoice: {
      auto* box = new QComboBox(this);
      if (!has_default) box->addItem(QString());
      for (const std::string& choice : option.choices) box->addItem(QString::fromStdString(choice));
      connect(box, &QComboBox::currentIndexChanged, this, &OptionForm::Read);
      return {
          box, [box] { return box->currentText().toStdString(); },
          [box](const std::string& text) { box->setCurrentText(QString::fromStdString(text)); }};
    }
    case OptionType::kText: {
      auto* box = new TextBox(this);
      connect(box, &TextBox::editTextChanged, this, &OptionForm::Read);
      return {box, [box] { return box->currentText().toStdString(); },
              [box](const std::string& text) {
                box->setEditText(QString::fromStdString(text));
                box->lineEdit()->setCursorPosition(0);
              }};
    }
    case OptionType::kTextList:
    case OptionType::kFile:
      break;
  }
  auto* edit = new QLineEdit(this);
  if (option.type == OptionType::kTextList) edit->setPlaceholderText(tr("several: one; two"));
  connect(edit, &QLineEdit::textChanged, this, &OptionForm::Read);
  return {edit, [edit] { return edit->text().toStdString(); },
          [edit](const std::string& text) { edit->setText(QString::fromStdString(text)); }};
}

void OptionForm::ReadField(const OptionDescription& option, OptionSet& options) const {
  const std::string text = fields_.at(option.name).text();
  options.Reset(option.name);
  if (option.type == OptionType::kTextList) {
    for (const QString& part : Split(QString::fromStdString(text))) {
      options.SetText(option.name, part.toStdString());
    }
    return;
  }
  if (text.empty()) return;
  // A value equal to the default does not count as set, so that a later default applies to it.
  if (text == OptionValueText(option.default_value)) return;
  if (option.type == OptionType::kFlag && text == "false") return;
  options.SetText(option.name, text);
}

void OptionForm::Read() {
  if (quiet_) return;
  const OptionSet before = options_;
  for (const OptionDescription& option : before.descriptions()) {
    const auto read = [&] {
      OptionSet next = options_;
      ReadField(option, next);
      options_ = std::move(next);
    };
    ShowError(fields_[option.name].error, ErrorText(read));
  }
  const auto check = [this] {
    if (check_) check_(options_);
  };
  ShowError(check_error_, ErrorText(check));
  Q_EMIT Changed();
}

void OptionForm::ShowAll() {
  quiet_ = true;
  for (const OptionDescription& option : options_.descriptions()) {
    fields_[option.name].show(ShownText(option, options_.Value(option.name)));
  }
  quiet_ = false;
}

OptionSet OptionForm::Checked() const {
  OptionSet read = options_;
  for (const OptionDescription& option : options_.descriptions()) ReadField(option, read);
  if (check_) check_(read);
  return read;
}

void OptionForm::SetOptions(const OptionSet& options) {
  for (const OptionDescription& option : options_.descriptions()) {
    options_.Reset(option.name);
    if (options.IsSet(option.name)) options_.Set(option.name, options.Value(option.name));
  }
  ShowAll();
  Read();
}

void OptionForm::SetText(const std::string& name, const std::string& text) {
  OptionSet next = options_;
  next.SetText(name, text);
  SetOptions(next);
}

void OptionForm::Offer(const std::string& name, const QStringList& texts) {
  if (auto* box = qobject_cast<TextBox*>(fields_.at(name).widget)) box->Offer(texts);
}

void OptionForm::SetCheck(std::function<void(const OptionSet&)> check) {
  check_ = std::move(check);
  Read();
}

QString OptionForm::error() const {
  for (const auto& [name, field] : fields_) {
    if (!field.error->isHidden()) return field.error->text();
  }
  return check_error_->isHidden() ? QString() : check_error_->text();
}

}  // namespace midscope
