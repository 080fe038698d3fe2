// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/prompt_panel.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPalette>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>
#include <algorithm>

#include "core/base/error.h"
#include "core/chat/chat_template.h"
#include "gui/base/appearance.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/task_form.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {
namespace {

constexpr int kLargestSeed = 2147483647;

// Draws the button bold and in colour if `changed`: pressing it would change what is shown.
void MarkChanged(QPushButton* button, bool changed) {
  QFont font = button->font();
  font.setBold(changed);
  button->setFont(font);
  QPalette colors;
  if (changed) {
    colors.setColor(QPalette::Button, ChangedColor());
    colors.setColor(QPalette::ButtonText, Qt::white);
  }
  button->setPalette(colors);
}

}  // namespace

PromptPanel::PromptPanel(QWidget* parent) : QWidget(parent) {
  auto* column = WithoutMargins(new QVBoxLayout(this));
  auto* box = new QWidget(this);
  pages_ = Named(new QTabWidget(box), "prompt_pages");
  pages_->addTab(MakeTaskPage(), tr("Task"));
  own_text_ = new OwnTextPage(this);
  pages_->addTab(own_text_, tr("Own text"));
  place_ =
      Named(new QComboBox(box), "place",
            tr("The place whose prompt is shown; a click into the outcome plot also selects it"));
  run_ = Named(new QPushButton(tr("Run"), box), "run", tr("Run the model on this (F5)"));
  auto* box_column = WithoutMargins(new QVBoxLayout(box));
  box_column->addWidget(pages_, 1);
  box_column->addWidget(MakeFormatFold(box));
  sent_ = Named(new QLineEdit(box), "sent",
                tr("<p>What is sent to the model at this place: its tokens, the begin-of-text "
                   "token, the chat "
                   "template. Control tokens are in double brackets</p>"));
  sent_->setReadOnly(true);
  sent_->setFrame(false);
  sent_->setPlaceholderText(tr("no prompt was sent yet"));
  box_column->addWidget(sent_);
  column->addWidget(box);
  connect(own_text_, &OwnTextPage::Edited, this, &PromptPanel::Edited);
  connect(own_text_, &OwnTextPage::PreviewRequested, this, &PromptPanel::AskPreview);
  connect(this, &PromptPanel::Edited, own_text_, &OwnTextPage::Changed);
  connect(run_, &QPushButton::clicked, this, &PromptPanel::RunRequested);
  connect(pages_, &QTabWidget::currentChanged, this, &PromptPanel::Edited);
  connect(task_, &TaskForm::Edited, this, &PromptPanel::Edited);
  for (QSpinBox* number : {seed_, sample_}) {
    connect(number, &QSpinBox::valueChanged, this, &PromptPanel::Edited);
  }
  connect(places_, &QLineEdit::textChanged, this, &PromptPanel::Edited);
  connect(format_, &ParameterForm::Changed, this, &PromptPanel::Edited);
  connect(place_, &QComboBox::currentIndexChanged, this, &PromptPanel::PlaceChosen);
  connect(place_, &QComboBox::currentIndexChanged, this, &PromptPanel::ShowSent);
}

void PromptPanel::ShowOwnText() {
  pages_->setCurrentIndex(1);
  editor()->setFocus();
}

void PromptPanel::LeaveOwnText() {
  if (pages_->currentIndex() == 1 && editor()->Text().isEmpty()) pages_->setCurrentIndex(0);
}

void PromptPanel::AskPreview() {
  try {
    Q_EMIT PreviewRequested(prompt_request());
  } catch (const Error& error) {
    PromptPreview preview;
    preview.failure = QString::fromUtf8(error.what());
    own_text_->ShowPreview(preview, 0);
  }
}

QWidget* PromptPanel::MakeFormatFold(QWidget* parent) {
  format_ = Named(new ParameterForm(PromptFormatOptions(), parent), "prompt_format");
  format_->SetCheck([](const OptionSet& options) { ReadPromptFormat(options); });
  QStringList templates = {QStringLiteral("model")};
  for (const std::string& family : ChatFamilies()) templates << QString::fromStdString(family);
  format_->Offer("chat-template", templates);
  auto* fold = Named(new FoldBox(QString(), format_, parent), "prompt_format_fold");
  const auto retitle = [this, fold] {
    const QString changed = ChangedOptionsText(format_->options());
    fold->SetTitle(changed.isEmpty() ? tr("Prompt format: default")
                                     : tr("Prompt format: %1").arg(changed));
    fold->SetChanged(!changed.isEmpty());
  };
  connect(format_, &ParameterForm::Changed, this, retitle);
  retitle();
  return fold;
}

QWidget* PromptPanel::MakeTaskPage() {
  auto* page = new QWidget(this);
  task_ = new TaskForm(page);
  seed_ = new QSpinBox(page);
  seed_->setRange(0, kLargestSeed);
  seed_->setValue(1);
  seed_->setToolTip(tr("Seed of all samples"));
  sample_ = Named(new QSpinBox(this), "sample", tr("Which sample is on the screen"));
  sample_->setRange(0, kLargestSeed);
  places_ = Named(new QLineEdit(page), "places",
                  tr("<p>Places of the gold piece: ranks such as 1,5,10 or 1-20, or shares such as "
                     "0%,25%,100%</p>"));
  places_->setPlaceholderText(tr("first, quarter, middle, three quarters, last"));
  auto* form = new QFormLayout(page);
  form->addRow(tr("task"), task_);
  form->addRow(tr("seed"), seed_);
  form->addRow(tr("places"), places_);
  return page;
}

void PromptPanel::SetWaiting(bool waiting) {
  run_->setToolTip(waiting ? tr("Run the model on this, which is not on the screen yet (F5)")
                           : tr("Run the model on this (F5)"));
  MarkChanged(run_, waiting);
}

// Enter in a field runs the request; multi-line editors handle Enter themselves.
void PromptPanel::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || qobject_cast<QAbstractButton*>(window()->focusWidget()))
    return QWidget::keyPressEvent(event);
  event->accept();
  Q_EMIT RunRequested();
}

void PromptPanel::SetTask(const QString& task) { task_->SetText(task); }

void PromptPanel::ChooseTask(const QString& task) {
  pages_->setCurrentIndex(0);
  SetTask(task);
}

void PromptPanel::SetPrompt(const PromptRequest& prompt_request) {
  pages_->setCurrentIndex(prompt_request.task.empty() ? 1 : 0);
  format_->SetOptions(OptionsOf(prompt_request.format));
  if (prompt_request.task.empty()) {
    own_text_->Read(prompt_request);
    return;
  }
  task_->SetText(QString::fromStdString(prompt_request.task));
  seed_->setValue(static_cast<int>(std::min<uint64_t>(prompt_request.seed, kLargestSeed)));
  sample_->setValue(static_cast<int>(std::min<int64_t>(prompt_request.sample, kLargestSeed)));
  places_->setText(QString::fromStdString(prompt_request.places));
}

PromptRequest PromptPanel::prompt_request() const {
  PromptRequest prompt_request;
  prompt_request.format = ReadPromptFormat(format_->Checked());
  if (pages_->currentIndex() == 0) {
    prompt_request.task = task_->text().toStdString();
    prompt_request.seed = static_cast<uint64_t>(seed_->value());
    prompt_request.sample = sample_->value();
    prompt_request.places = places_->text().remove(QLatin1Char(' ')).toStdString();
    return prompt_request;
  }
  prompt_request.task.clear();
  own_text_->Write(prompt_request);
  if (prompt_request.text.empty() && prompt_request.question.empty()) {
    throw UsageError("own text", "there is none", "Type or paste a text, or choose a task");
  }
  return prompt_request;
}

PromptFields PromptPanel::fields() const {
  return {pages_->currentIndex(),
          task_->text(),
          seed_->value(),
          sample_->value(),
          places_->text(),
          format_->options().ToJson(),
          own_text_->answer()->text(),
          own_text_->question(),
          own_text_->places(),
          editor()->marked_text()};
}

void PromptPanel::SetFields(const PromptFields& fields) {
  pages_->setCurrentIndex(fields.page);
  if (task_->text() != fields.task) task_->SetText(fields.task);
  seed_->setValue(fields.seed);
  sample_->setValue(fields.sample);
  places_->setText(fields.places);
  OptionSet format(PromptFormatOptions());
  format.FromJson(fields.format);
  format_->SetOptions(format);
  own_text_->answer()->setText(fields.answer);
  own_text_->SetLines(fields.question, fields.text_places);
  if (editor()->marked_text() != fields.text) editor()->SetMarkedText(fields.text);
}

void PromptPanel::ShowSent() {
  sent_->setText(sent_texts_.value(place_->currentIndex()));
  const QString tokens = place_->currentData(Qt::ToolTipRole).toString();
  place_->setToolTip(
      tr("<p>The place whose prompt is shown%1; a click into the outcome plot also selects it</p>")
          .arg(tokens.isEmpty() ? QString() : tr(": %1").arg(tokens)));
  sent_->setCursorPosition(0);
}

void PromptPanel::ShowPlaces(const std::vector<Record>& prompts, size_t current) {
  const QSignalBlocker quiet(place_);
  place_->clear();
  for (const Record& prompt : prompts) {
    const int64_t tokens = IntegerAttribute(prompt, "prompt_tokens", AxisSize(prompt, "token"));
    const bool of_task = !TextAttribute(prompt, "task").isEmpty();
    place_->addItem(of_task ? tr("%1  (%2 tokens)").arg(PromptName(prompt)).arg(tokens)
                            : PromptName(prompt));
    place_->setItemData(place_->count() - 1, tr("%1 tokens").arg(tokens), Qt::ToolTipRole);
  }
  sent_texts_.clear();
  for (const Record& prompt : prompts) sent_texts_ << TextAttribute(prompt, "sent");
  place_->setCurrentIndex(prompts.empty() ? -1 : static_cast<int>(current));
  ShowSent();
}

}  // namespace midscope
