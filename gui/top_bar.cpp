// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/top_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

#include "gui/base/appearance.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"
#include "gui/widgets/task_form.h"

namespace midscope {

PlaceButtons::PlaceButtons(QComboBox* box, QWidget* parent) : QWidget(parent), box_(box) {
  row_ = new QHBoxLayout(this);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(0);
  setStyleSheet(PressedStyle());
  row_->addWidget(box_);
  for (int i = 0; i < kMostButtons; ++i) {
    auto* button = Named(new QToolButton(this), QStringLiteral("place_%1").arg(i));
    button->setCheckable(true);
    button->setAutoExclusive(true);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, [this, i] { box_->setCurrentIndex(i); });
    row_->addWidget(button);
    buttons_.push_back(button);
  }
  connect(box_, &QComboBox::currentIndexChanged, this, &PlaceButtons::ShowCurrent);
  Refresh();
}

void PlaceButtons::Refresh() {
  const int count = box_->count();
  const bool few = count > 0 && count <= kMostButtons;
  box_->setVisible(!few);
  for (int i = 0; i < kMostButtons; ++i) {
    QToolButton* button = buttons_[static_cast<size_t>(i)];
    button->setVisible(few && i < count);
    if (i >= count) continue;
    const QString text = box_->itemText(i);
    button->setText(text.section(QStringLiteral("  ("), 0, 0));
    button->setToolTip(text);
    button->setAccessibleName(tr("Place %1").arg(text));
  }
  ShowCurrent();
}

void PlaceButtons::ShowCurrent() {
  for (size_t i = 0; i < buttons_.size(); ++i)
    buttons_[i]->setChecked(static_cast<int>(i) == box_->currentIndex());
}

CompareSwitch::CompareSwitch(Selection* selection, QWidget* parent) : QWidget(parent) {
  auto* row = WithoutMargins(new QHBoxLayout(this));
  row->setSpacing(0);
  setStyleSheet(PressedStyle());
  const struct {
    const char* name;
    QString text;
    QString help;
  } choices[] = {
      {"compare_a", tr("A"), tr("Every panel shows A")},
      {"compare_b", tr("B"), tr("Every panel shows B, or A where B is missing")},
      {"compare_difference", tr("B − A"), tr("Every panel shows the difference")},
      {"compare_split", tr("A | B"), tr("Every panel shows A and B beside or over each other")}};
  for (size_t i = 0; i < std::size(choices); ++i) {
    auto* button =
        Named(new QToolButton(this), QString::fromLatin1(choices[i].name), choices[i].help);
    button->setText(choices[i].text);
    button->setAccessibleName(choices[i].help);
    button->setCheckable(true);
    const auto compare = static_cast<Compare>(i);
    connect(button, &QToolButton::clicked, this, [this, selection, compare] {
      selection->SetCompare(compare);
      Show(selection->compare());
    });
    row->addWidget(button);
    buttons_.push_back(button);
  }
  auto* flicker = Named(new QToolButton(this), "compare_flicker",
                        tr("Every panel shows A and B alternately: what differs moves"));
  flicker->setText(tr("blink"));
  flicker->setAccessibleName(flicker->toolTip());
  flicker->setCheckable(true);
  connect(flicker, &QToolButton::clicked, selection, &Selection::SetFlicker);
  connect(selection, &Selection::FlickerChanged, flicker, &QToolButton::setChecked);
  row->addWidget(flicker);
  connect(selection, &Selection::CompareChanged, this, &CompareSwitch::Show);
  Show(selection->compare());
}

void CompareSwitch::SetModels(const QString& a, const QString& b) {
  constexpr int kWidestName = 110;
  const auto name = [this](QToolButton* button, const QString& letter, const QString& model) {
    const QString shown = fontMetrics().elidedText(model, Qt::ElideMiddle, kWidestName);
    button->setText(model.isEmpty() ? letter : QStringLiteral("%1 %2").arg(letter, shown));
    const QString help = button->accessibleName();
    button->setToolTip(model.isEmpty() ? help : QStringLiteral("%1: %2").arg(help, model));
  };
  name(buttons_[0], tr("A"), a);
  name(buttons_[1], tr("B"), b);
}

void CompareSwitch::Show(Compare compare) {
  for (size_t i = 0; i < buttons_.size(); ++i) {
    buttons_[i]->setChecked(i == static_cast<size_t>(compare));
  }
}

namespace {

// The width of the bar from which it has labels, and widths of the buttons for model and prompt.
constexpr int kWideBar = 1200;
constexpr int kWideButton = 220;
constexpr int kNarrowButton = 96;
constexpr int kButtonMargin = 26;
constexpr int kSampleWidth = 70;
constexpr int kGap = 10;
constexpr QLatin1String kBetweenModels(" | ");

QString TitleOf(const QString& task) {
  for (const UsualTask& usual : UsualTasks()) {
    if (task == usual.text) return usual.title;
  }
  return task;
}

}  // namespace

TopBar::TopBar(PromptPanel* prompt, Selection* selection, QWidget* parent)
    : QWidget(parent), prompt_panel_(prompt) {
  setObjectName(QStringLiteral("top_bar"));
  model_ = MakeButton("top_model", tr("The model: choose another, its dtype and device"));
  connect(model_, &QToolButton::clicked, this, [this] {
    Q_EMIT FormRequested(QStringLiteral("model"), model_->mapToGlobal(QPoint(0, height())));
  });
  prompt_ = MakeButton("top_prompt", tr("The prompt: a task or your own text"));
  prompt_->setPopupMode(QToolButton::InstantPopup);
  prompt_->setMenu(new QMenu(prompt_));
  FillPrompts();
  places_ = new PlaceButtons(prompt->place_box(), this);
  auto* search = Named(new QPushButton(tr("Search…"), this), "top_search",
                       tr("Every action of the window by a few letters of its name (Ctrl+K)"));
  connect(search, &QPushButton::clicked, this, &TopBar::SearchRequested);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 4, 4, 4);
  row->setSpacing(6);
  constexpr int kStretch = 100;  // before that of the gap
  row->addWidget(model_, kStretch);
  row->addWidget(prompt_, kStretch);
  const auto label = [this](const QString& text) {
    labels_.push_back(new QLabel(text, this));
    labels_.back()->setMinimumWidth(1);  // so that the window can be made narrow
    return labels_.back();
  };
  row->addWidget(label(tr("sample")));
  prompt->sample_box()->setMaximumWidth(kSampleWidth);
  row->addWidget(prompt->sample_box());
  row->addSpacing(kGap);
  row->addWidget(label(tr("answer at")));
  row->addWidget(places_);
  row->addSpacing(kGap);
  row->addWidget(prompt->run_button());
  row->addStretch(1);
  row->addWidget(label(tr("show")));
  switch_ = new CompareSwitch(selection, this);
  row->addWidget(switch_);
  row->addSpacing(kGap);
  row->addWidget(search);
  ShowModel(QString());
  ShowPrompt();
}

QToolButton* TopBar::MakeButton(const char* name, const QString& help) {
  auto* button = Named(new QToolButton(this), name, help);
  button->setAccessibleName(help);
  button->setFocusPolicy(Qt::StrongFocus);
  button->setMinimumWidth(kNarrowButton);
  button->setMaximumWidth(kWideButton);
  button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  return button;
}

void TopBar::FillPrompts() {
  QMenu* menu = prompt_->menu();
  for (const UsualTask& usual : UsualTasks()) {
    menu->addAction(usual.title, this, [this, &usual] {
      prompt_panel_->ChooseTask(usual.text);
      Q_EMIT RunRequested();
    });
  }
  menu->addSeparator();
  menu->addAction(tr("Own text…"), this, &TopBar::OwnTextRequested)
      ->setObjectName(QStringLiteral("prompt_own_text"));
  menu->addAction(tr("All tasks and options…"), this,
                  [this] {
                    Q_EMIT FormRequested(QStringLiteral("prompt"),
                                         prompt_->mapToGlobal(QPoint(0, height())));
                  })
      ->setObjectName(QStringLiteral("prompt_options"));
}

void TopBar::ShowModel(const QString& label) {
  model_text_ = label.isEmpty() ? tr("No model yet") : label;
  model_->setToolTip(tr("%1. Choose another, its dtype and device").arg(model_text_));
  FitTexts();
}

void TopBar::ShowSides(const QString& a, const QString& b) { switch_->SetModels(a, b); }

void TopBar::ShowPrompt() {
  const PromptFields fields = prompt_panel_->fields();
  prompt_text_ = fields.page == 0 ? TitleOf(fields.task) : tr("Own text");
  FitTexts();
  prompt_panel_->sample_box()->setEnabled(fields.page == 0);
}

void TopBar::FitTexts() {
  for (QWidget* label : labels_)
    label->setVisible(width() >= kWideBar && (!prompt_->isHidden() || label == labels_.back()));
  if (layout()) layout()->activate();
  for (QToolButton* each : {model_, prompt_}) {
    // Two names are shortened one by one: the middle of both would read as one name.
    QStringList names = (each == model_ ? model_text_ : prompt_text_).split(kBetweenModels);
    const int room = each->width() - kButtonMargin -
                     fontMetrics().horizontalAdvance(kBetweenModels) * (names.size() > 1 ? 1 : 0);
    for (QString& name : names) {
      const auto width = room / static_cast<int>(names.size());
      name = fontMetrics().elidedText(name, Qt::ElideMiddle, width);
    }
    each->setText(names.join(kBetweenModels));
  }
}

void TopBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  FitTexts();
}

void TopBar::OfferPrompt(bool offered) {
  prompt_->setVisible(offered);
  places_->setVisible(offered);
  prompt_panel_->sample_box()->setVisible(offered);
  prompt_panel_->run_button()->setVisible(offered);
  FitTexts();
}

void TopBar::ShowPlaces() { places_->Refresh(); }

void TopBar::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || qobject_cast<QAbstractButton*>(window()->focusWidget()))
    return QWidget::keyPressEvent(event);
  event->accept();
  Q_EMIT RunRequested();
}

}  // namespace midscope
