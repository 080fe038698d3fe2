// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_fields.h"

#include <QFormLayout>
#include <QLabel>

#include "gui/widgets/knob_help.h"

namespace midscope {

TermFields::TermFields(const TermText& term, const TermOffers& offers, QWidget* parent)
    : QWidget(parent), term_(term.term) {
  auto* layout = new QFormLayout(this);
  layout->setContentsMargins(14, 0, 0, 4);
  layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (size_t i = 0; i < term_->arguments.size(); ++i) {
    const Parameter& argument = term_->arguments[i];
    ParameterField field = MakeField(argument, FieldText::kTerm, term.values[i], this,
                                     [this, i] { OnArgumentEdited(i); });
    field.input->setObjectName(QString::fromStdString("term_" + term_->name + "_" + argument.name));
    field.input->setToolTip(ParameterTooltip(argument));
    auto* label = new QLabel(FieldLabel(argument), this);
    label->setToolTip(TermHelp(term_->name.c_str()));
    layout->addRow(label, field.widget);
    fields_.push_back(std::move(field));
  }
  if (term_->arguments.empty()) layout->addRow(new QLabel(tr("nothing to set"), this));
  SetOffers(offers);
  SetValue(term);
}

void TermFields::OnArgumentEdited(size_t argument) {
  if (!quiet_) Q_EMIT Changed(static_cast<int>(argument));
}

TermText TermFields::value() const {
  TermText term{term_, {}};
  for (const ParameterField& field : fields_) term.values.push_back(field.text());
  return term;
}

bool TermFields::SetValue(const TermText& term) {
  if (term.term != term_) return false;
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
