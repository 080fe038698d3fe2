// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_fields.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QFormLayout>
#include <QIcon>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QSlider>
#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/model/model_config.h"
#include "core/terms/terms.h"
#include "kernels/check.h"

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

namespace {

constexpr int kPromptRows = 6;  // rows in the icon; the last one predicts the first answer token
constexpr int kAnswerRows = 2;
constexpr int kLastRows = 3;  // rows filled for last:N
constexpr QSize kCell(5, 11);
constexpr int kCellGap = 4;               // pixels between prompt and answer
constexpr int kPictureScale = 2;          // for high-resolution screens
constexpr QColor kChanged(48, 140, 230);  // visible on white and on black

struct RowPicture {
  const char* text;  // prefix of the item's text
  int prompt_rows;   // number of filled rows, counted from the last one
  bool answer;       // whether the answer's rows are filled
  const char* help;
};

// If one prefix begins with another, the longer one is first.
constexpr RowPicture kRowPictures[] = {
    {"last:", kLastRows, true,
     QT_TRANSLATE_NOOP("rows", "the last N rows of the prompt and the answer's rows")},
    {"last N", kLastRows, true,
     QT_TRANSLATE_NOOP("rows", "the last N rows of the prompt and the answer's rows")},
    {"last", 1, false, QT_TRANSLATE_NOOP("rows", "the last row of the prompt alone")},
    {"answer", 1, true,
     QT_TRANSLATE_NOOP("rows", "the last row of the prompt and the answer's rows")},
    {"all", kPromptRows, true, QT_TRANSLATE_NOOP("rows", "every row")}};

QIcon PictureOf(const RowPicture& choice) {
  constexpr int kCells = kPromptRows + kAnswerRows;
  QPixmap picture(QSize(kCells * kCell.width() + kCellGap, kCell.height() + 2) * kPictureScale);
  picture.setDevicePixelRatio(kPictureScale);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setPen(QPen(QColor(128, 128, 128), 1));  // visible on white and on black
  for (int cell = 0; cell < kCells; ++cell) {
    const bool answer = cell >= kPromptRows;
    const bool filled = answer ? choice.answer : cell >= kPromptRows - choice.prompt_rows;
    painter.setBrush(filled ? QBrush(kChanged) : QBrush(Qt::NoBrush));
    painter.drawRect(QRectF(cell * kCell.width() + (answer ? kCellGap : 0) + 0.5, 0.5,
                            kCell.width() - 2, kCell.height()));
  }
  return QIcon(picture);
}

}  // namespace

void ShowRowPictures(QComboBox* rows) {
  for (int i = 0; i < rows->count(); ++i) {
    for (const RowPicture& choice : kRowPictures) {
      if (!rows->itemText(i).startsWith(QLatin1String(choice.text))) continue;
      rows->setItemIcon(i, PictureOf(choice));
      rows->setItemData(i, QCoreApplication::translate("rows", choice.help), Qt::ToolTipRole);
      break;
    }
  }
  rows->setIconSize(
      QSize((kPromptRows + kAnswerRows) * kCell.width() + kCellGap, kCell.height() + 2));
}

QString TermHelp(const char* term) {
  const TermType* described = FindTermType(term);
  if (!described) MIDSCOPE_BUG(std::string("no intervention term '") + term + "'");
  QString text = QString::fromStdString(described->summary);
  if (!described->source.empty())
    text += QLatin1Char('\n') + QString::fromStdString(described->source);
  // As rich text, because plain tooltips do not wrap.
  return QStringLiteral("<p>") + text.toHtmlEscaped().replace('\n', QStringLiteral("<br>")) +
         QStringLiteral("</p>");
}

}  // namespace midscope
