// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/parameter_form.h"

#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

QStringList Split(const QString& text) {
  QStringList parts;
  for (const QString& part : text.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
    parts << part.trimmed();
  }
  return parts;
}

std::string ShownText(const Parameter& option, const ParameterValue& value) {
  if (option.kind != ParameterKind::kTextList) return ParameterText(value);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  std::string text;
  for (size_t i = 0; list && i < list->size(); ++i) text += (i > 0 ? "; " : "") + (*list)[i];
  return text;
}

}  // namespace

QString ChangedOptionsText(const OptionSet& options) {
  QStringList texts;
  for (const Parameter& option : options.descriptions()) {
    const ParameterValue& value = options.Value(option.name);
    if (value == option.default_value) continue;
    texts << QString::fromStdString(option.name + " " + ParameterText(value));
  }
  return texts.join(QStringLiteral(", "));
}

ParameterForm::ParameterForm(std::vector<Parameter> descriptions, QWidget* parent,
                             const std::string& prefix, const ChooseFile& choose)
    : QWidget(parent), options_(std::move(descriptions)), check_error_(MakeErrorLabel(this)) {
  check_error_->setObjectName(QStringLiteral("form_error"));
  layout_ = WithoutMargins(new QFormLayout(this));
  layout_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const Parameter& parameter : options_.descriptions()) AddRow(parameter, prefix, choose);
  layout_->addRow(check_error_);
  ShowAll();
}

void ParameterForm::ShowFirst(const std::vector<std::string>& names) {
  for (auto& [name, row] : rows_)
    row.first = std::find(names.begin(), names.end(), name) != names.end();
  more_ = Named(new QPushButton(tr("More options"), this), "more_options");
  layout_->addRow(more_);
  connect(more_, &QPushButton::clicked, this, [this] {
    layout_->setRowVisible(std::exchange(more_, nullptr), false);
    ShowFields();
  });
  ShowFields();
}

void ParameterForm::SetLabels(const std::map<std::string, QString>& labels) {
  for (const auto& [name, text] : labels) rows_.at(name).label->setText(text);
}

void ParameterForm::SetApplies(Applies applies) {
  applies_ = std::move(applies);
  Read();
}

bool ParameterForm::AppliesTo(const std::string& name, const OptionSet& options) const {
  return !applies_ || applies_(name, options);
}

void ParameterForm::ShowFields() {
  for (const auto& [name, row] : rows_)
    layout_->setRowVisible(row.field.widget, (row.first || !more_) && AppliesTo(name, options_));
}

void ParameterForm::AddRow(const Parameter& parameter, const std::string& prefix,
                           const ChooseFile& choose) {
  Row row{MakeField(
              parameter, FieldText::kValue, "", this, [this] { Read(); }, choose),
          MakeErrorLabel(this)};
  row.field.input->setObjectName(QString::fromStdString(prefix + parameter.name));
  row.field.input->setToolTip(ParameterTooltip(parameter));
  auto* label = new QLabel(FieldLabel(parameter), this);
  label->setToolTip(row.field.input->toolTip());
  label->setBuddy(row.field.input);
  row.label = label;
  layout_->addRow(label, row.field.widget);
  layout_->addRow(row.error);
  rows_[parameter.name] = std::move(row);
}

void ParameterForm::ReadField(const Parameter& option, OptionSet& options) const {
  const std::string text = rows_.at(option.name).field.text();
  const bool stated = keeps_stated_ && options_.IsSet(option.name);
  options.Reset(option.name);
  if (!AppliesTo(option.name, options)) return;
  if (option.kind == ParameterKind::kTextList) {
    for (const QString& part : Split(QString::fromStdString(text))) {
      options.SetText(option.name, part.toStdString());
    }
    return;
  }
  if (text.empty()) return;
  if (text == ParameterText(option.default_value) && !stated) return;
  if (option.kind == ParameterKind::kFlag && text == "false") return;
  options.SetText(option.name, text);
}

void ParameterForm::Read() {
  if (quiet_) return;
  const OptionSet before = options_;
  for (const Parameter& option : before.descriptions()) {
    const auto read = [&] {
      OptionSet next = options_;
      ReadField(option, next);
      options_ = std::move(next);
    };
    ShowError(rows_[option.name].error, ErrorText(read));
  }
  ShowFields();
  const auto check = [this] {
    if (check_) check_(options_);
  };
  ShowError(check_error_, ErrorText(check));
  Q_EMIT Changed();
}

void ParameterForm::ShowAll() {
  quiet_ = true;
  for (const Parameter& option : options_.descriptions()) {
    rows_[option.name].field.show(ShownText(option, options_.Value(option.name)));
  }
  quiet_ = false;
}

OptionSet ParameterForm::Checked() const {
  OptionSet read = options_;
  for (const Parameter& option : options_.descriptions()) ReadField(option, read);
  if (check_) check_(read);
  return read;
}

void ParameterForm::SetOptions(const OptionSet& options) {
  for (const Parameter& option : options_.descriptions()) {
    options_.Reset(option.name);
    if (options.IsSet(option.name)) options_.Set(option.name, options.Value(option.name));
  }
  ShowAll();
  Read();
}

void ParameterForm::SetText(const std::string& name, const std::string& text) {
  OptionSet next = options_;
  next.SetText(name, text);
  SetOptions(next);
}

void ParameterForm::Offer(const std::string& name, const QStringList& texts, TextBox::Notes notes) {
  OfferTexts(rows_.at(name).field, texts, std::move(notes));
}

void ParameterForm::SetKeepsStated(bool keeps) { keeps_stated_ = keeps; }

void ParameterForm::SetCheck(std::function<void(const OptionSet&)> check) {
  check_ = std::move(check);
  Read();
}

QString ParameterForm::error() const {
  for (const auto& [name, row] : rows_) {
    if (!row.error->isHidden()) return row.error->text();
  }
  return check_error_->isHidden() ? QString() : check_error_->text();
}

}  // namespace midscope
