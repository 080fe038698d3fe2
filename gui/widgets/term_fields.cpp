// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_fields.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QSlider>
#include <algorithm>

#include "core/base/text.h"
#include "core/model/model_config.h"
#include "gui/widgets/row_pictures.h"
#include "gui/widgets/term_help.h"

namespace midscope {
namespace {

bool IsBeyond(const Parameter& argument, const std::string& value) {
  double number = 0;
  return IsNumber(argument) && ReadWhole(value, number) &&
         (number < argument.minimum || number > argument.maximum);
}

// The argument with its range limited to the model. If `value` is outside that range, returns the
// argument unchanged, so that the field can show the value.
Parameter OfModel(const Parameter& argument, const ModelConfig& model, const std::string& value) {
  Parameter limited = argument;
  const auto last = [](int64_t count) { return static_cast<double>(count - 1); };
  if (argument.name == "channel") {
    limited.maximum = std::min(limited.maximum, last(model.hidden));
  } else if (argument.name == "first_layer" || argument.name == "layer") {
    limited.maximum = std::min(limited.maximum, last(model.layers));
  } else if (argument.kind == ParameterKind::kLayers) {
    limited.help += " This model: 0-" + std::to_string(model.layers - 1) + ".";
  } else if (argument.kind == ParameterKind::kHeads) {
    limited.help += " This model: L0H0 to L" + std::to_string(model.layers - 1) + "H" +
                    std::to_string(model.heads - 1) + ".";
  }
  return IsBeyond(limited, value) ? argument : limited;
}

QStringList LayerTexts(const ModelConfig& model) {
  const int64_t last = model.layers - 1;
  const int64_t half = model.layers / 2;
  QStringList texts{QStringLiteral("all")};
  if (last > 0) {
    texts << QStringLiteral("0-%1").arg(half - 1) << QStringLiteral("%1-%2").arg(half).arg(last);
  }
  return texts;
}

}  // namespace

TermFields::TermFields(const TermText& term, const TermOffers& offers, QWidget* parent,
                       const ModelConfig* model)
    : QWidget(parent), term_(term.term) {
  layout_ = new QFormLayout(this);
  layout_->setContentsMargins(8, 2, 0, 4);
  layout_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (size_t i = 0; i < term_->arguments.size(); ++i) {
    arguments_.push_back(model ? OfModel(term_->arguments[i], *model, term.values[i])
                               : term_->arguments[i]);
    const Parameter& argument = arguments_.back();
    ParameterField field = MakeField(argument, FieldText::kTerm, term.values[i], this,
                                     [this, i] { OnArgumentEdited(i); });
    field.input->setObjectName(QString::fromStdString("term_" + term_->name + "_" + argument.name));
    field.input->setToolTip(ParameterTooltip(argument));
    field.input->setAccessibleName(
        tr("%1 of %2").arg(FieldLabel(argument), QString::fromStdString(term_->name)));
    auto* choices = qobject_cast<QComboBox*>(field.input);
    if (choices && argument.name == "rows") ShowRowPictures(choices);
    if (model && argument.kind == ParameterKind::kLayers) OfferTexts(field, LayerTexts(*model));
    auto* label = new QLabel(FieldLabel(argument), this);
    if (field.slider) {
      field.slider->setAccessibleName(field.input->accessibleName());
      field.slider->setObjectName(field.input->objectName() + QStringLiteral("_slider"));
    }
    label->setBuddy(field.input);
    label->setToolTip(TermHelp(term_->name.c_str()));
    layout_->addRow(label, field.widget);
    fields_.push_back(std::move(field));
  }
  if (term_->arguments.empty()) layout_->addRow(new QLabel(tr("nothing to set"), this));
  SetOffers(offers);
  SetValue(term);
  ShowAll(false);
}

// A term of few arguments shows them all.
void TermFields::ShowAll(bool all) {
  shows_all_ = all;
  constexpr size_t kFew = 2;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Parameter& argument = arguments_[i];
    const std::string value = fields_[i].text();
    const bool changed = !value.empty() && value != ParameterText(argument.default_value);
    layout_->setRowVisible(static_cast<int>(i), all || changed || fields_.size() <= kFew ||
                                                    argument.required || fields_[i].slider);
  }
}

void TermFields::OnArgumentEdited(size_t argument) {
  if (quiet_) return;
  const QSlider* slider = fields_[argument].slider;
  Q_EMIT Changed(static_cast<int>(argument), slider && slider->isSliderDown());
}

TermText TermFields::value() const {
  TermText term{term_, {}};
  for (const ParameterField& field : fields_) term.values.push_back(field.text());
  return term;
}

bool TermFields::SetValue(const TermText& term) {
  if (term.term != term_) return false;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (IsBeyond(arguments_[i], term.values[i])) return false;
  }
  quiet_ = true;
  bool shown = true;
  for (size_t i = 0; i < fields_.size(); ++i) shown = fields_[i].show(term.values[i]) && shown;
  quiet_ = false;
  return shown;
}

void TermFields::SetOffers(const TermOffers& offers) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const auto found = offers.find(term_->arguments[i].name);
    if (found != offers.end()) OfferTexts(fields_[i], found->second);
  }
}

}  // namespace midscope
