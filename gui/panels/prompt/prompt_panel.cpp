// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/prompt_panel.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>
#include <algorithm>

#include "core/base/error.h"
#include "core/chat/chat_template.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_workbench.h"
#include "gui/widgets/changed_button.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/task_form.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {
namespace {

constexpr int kLargestSeed = 2147483647;
constexpr qsizetype kLongestQuote = 24;

// The passage on one line; a long one is elided in the middle.
QString Quoted(const QString& passage) {
  QString text = passage.simplified();
  if (text.size() > kLongestQuote) {
    text = text.left(kLongestQuote / 2) + QChar(0x2026) + text.right(kLongestQuote / 2);
  }
  return ShownToken(text);
}

}  // namespace

PromptPanel::PromptPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  auto* box = new QWidget(this);
  pages_ = new QTabWidget(box);
  pages_->setObjectName(QStringLiteral("prompt_pages"));
  pages_->addTab(MakeTaskPage(), tr("Task"));
  pages_->addTab(MakeTextPage(), tr("Own text"));
  place_ = new QComboBox(box);
  place_->setObjectName(QStringLiteral("place"));
  place_->setToolTip(
      tr("The place whose prompt is shown; a click into the outcome plot also selects it"));
  run_ = new QPushButton(tr("Run"), box);
  run_->setObjectName(QStringLiteral("run"));
  run_->setToolTip(tr("Run the model on this (F5)"));
  auto* box_column = new QVBoxLayout(box);
  box_column->setContentsMargins(0, 0, 0, 0);
  box_column->addWidget(pages_);
  box_column->addWidget(MakeFormatFold(box));
  sent_ = new QLineEdit(box);
  sent_->setObjectName(QStringLiteral("sent"));
  sent_->setReadOnly(true);
  sent_->setFrame(false);
  sent_->setPlaceholderText(tr("no prompt was sent yet"));
  sent_->setToolTip(tr(
      "<p>What is sent to the model at this place: its tokens, the begin-of-text token, the chat "
      "template. Control tokens are in double brackets</p>"));
  box_column->addWidget(sent_);
  column->addWidget(box);
  ConnectWorkbench();
  connect(run_, &QPushButton::clicked, this, &PromptPanel::RunRequested);
  connect(pages_, &QTabWidget::currentChanged, this, &PromptPanel::Edited);
  connect(task_, &TaskForm::Edited, this, &PromptPanel::Edited);
  for (QSpinBox* number : {seed_, sample_}) {
    connect(number, &QSpinBox::valueChanged, this, &PromptPanel::Edited);
  }
  for (QLineEdit* line : {places_, answer_}) {
    connect(line, &QLineEdit::textChanged, this, &PromptPanel::Edited);
  }
  connect(editor_, &PromptEditor::GoldChanged, this, &PromptPanel::Edited);
  connect(format_, &ParameterForm::Changed, this, &PromptPanel::Edited);
  connect(place_, &QComboBox::currentIndexChanged, this, &PromptPanel::PlaceChosen);
  connect(place_, &QComboBox::currentIndexChanged, this, &PromptPanel::ShowSent);
}

// The workbench has the same fields; each side shows changes made in the other.
void PromptPanel::ConnectWorkbench() {
  connect(open_workbench_, &QPushButton::clicked, this, &PromptPanel::OpenWorkbench);
  connect(workbench_, &PromptWorkbench::Edited, this, &PromptPanel::Edited);
  connect(workbench_, &PromptWorkbench::RunRequested, this, &PromptPanel::RunRequested);
  connect(workbench_, &PromptWorkbench::AnswerEdited, answer_, &QLineEdit::setText);
  connect(answer_, &QLineEdit::textChanged, workbench_, &PromptWorkbench::SetAnswer);
  connect(workbench_, &PromptWorkbench::FormatEdited, this,
          [this] { format_->SetOptions(workbench_->format()->options()); });
  connect(format_, &ParameterForm::Changed, this,
          [this] { workbench_->SetFormat(format_->options()); });
  connect(workbench_, &PromptWorkbench::PreviewRequested, this, &PromptPanel::AskPreview);
  connect(this, &PromptPanel::Edited, workbench_, &PromptWorkbench::Changed);
  connect(workbench_, &PromptWorkbench::Closed, this, [this] {
    editor_place_->layout()->addWidget(editor_);
    editor_->show();
  });
}

void PromptPanel::ShowOwnText() {
  pages_->setCurrentIndex(1);
  editor_->setFocus();
}

void PromptPanel::OpenWorkbench() {
  pages_->setCurrentIndex(1);
  workbench_->Open();
}

void PromptPanel::AskPreview() {
  try {
    Q_EMIT PreviewRequested(prompt_request());
  } catch (const Error& error) {
    PromptPreview preview;
    preview.failure = QString::fromUtf8(error.what());
    workbench_->ShowPreview(preview, 0);
  }
}

QWidget* PromptPanel::MakeFormatFold(QWidget* parent) {
  format_ = new ParameterForm(PromptFormatOptions(), parent);
  format_->setObjectName(QStringLiteral("prompt_format"));
  format_->SetCheck([](const OptionSet& options) { ReadPromptFormat(options); });
  QStringList templates = {QStringLiteral("model")};
  for (const std::string& family : ChatFamilies()) templates << QString::fromStdString(family);
  format_->Offer("chat-template", templates);
  auto* fold = new FoldBox(QString(), format_, parent);
  fold->setObjectName(QStringLiteral("prompt_format_fold"));
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
  sample_ = new QSpinBox(this);
  sample_->setObjectName(QStringLiteral("sample"));
  sample_->setRange(0, kLargestSeed);
  sample_->setToolTip(tr("Which sample is on the screen"));
  places_ = new QLineEdit(page);
  places_->setObjectName(QStringLiteral("places"));
  places_->setPlaceholderText(tr("first, quarter, middle, three quarters, last"));
  places_->setToolTip(
      tr("<p>Places of the gold piece: ranks such as 1,5,10 or 1-20, or shares such as "
         "0%,25%,100%</p>"));
  auto* form = new QFormLayout(page);
  form->addRow(tr("task"), task_);
  form->addRow(tr("seed"), seed_);
  form->addRow(tr("places"), places_);
  return page;
}

QWidget* PromptPanel::MakeTextPage() {
  auto* page = new QWidget(this);
  editor_ = new PromptEditor(page);
  auto* mark = new QPushButton(tr("Mark as gold"), page);
  mark->setObjectName(QStringLiteral("mark_gold"));
  mark->setToolTip(tr("Mark the selected passage as the one with the answer"));
  gold_text_ = new QLabel(tr("nothing is marked"), page);
  gold_text_->setObjectName(QStringLiteral("gold_text"));
  gold_text_->setTextFormat(Qt::PlainText);
  answer_ = new QLineEdit(page);
  answer_->setObjectName(QStringLiteral("answer"));
  answer_->setPlaceholderText(tr("answer, with its leading space"));
  answer_->setToolTip(
      tr("<p>What should follow the text; its likelihood is measured. Empty: "
         "nothing is measured</p>"));
  editor_place_ = new QWidget(page);
  auto* place = new QVBoxLayout(editor_place_);
  place->setContentsMargins(0, 0, 0, 0);
  place->addWidget(editor_);
  workbench_ = new PromptWorkbench(editor_, this);
  open_workbench_ = new QPushButton(tr("Workbench…"), page);
  open_workbench_->setObjectName(QStringLiteral("open_workbench"));
  open_workbench_->setToolTip(
      tr("<p>A window with room for long texts: find, pieces among which the gold passage moves, "
         "a question, the number of tokens, and the prompts as they would be sent</p>"));
  auto* row = new QHBoxLayout;
  row->addWidget(mark);
  row->addWidget(gold_text_, 1);
  row->addWidget(open_workbench_);
  auto* column = new QVBoxLayout(page);
  column->addWidget(editor_place_, 1);
  column->addLayout(row);
  column->addWidget(answer_);
  connect(mark, &QPushButton::clicked, editor_, &PromptEditor::MarkSelection);
  connect(editor_, &PromptEditor::GoldChanged, this, [this] {
    const QString gold = editor_->GoldText();
    gold_text_->setText(gold.isEmpty() ? tr("nothing is marked") : Quoted(gold));
    gold_text_->setToolTip(QStringLiteral("<p>") + gold.toHtmlEscaped() + QStringLiteral("</p>"));
  });
  return page;
}

void PromptPanel::SetWaiting(bool waiting) {
  run_->setToolTip(waiting ? tr("Run the model on this, which is not on the screen yet (F5)")
                           : tr("Run the model on this (F5)"));
  MarkChanged(run_, waiting);
  workbench_->SetWaiting(waiting);
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
    editor_->SetText(QString::fromStdString(prompt_request.text));
    editor_->MarkBytes(prompt_request.gold_begin, prompt_request.gold_end);
    answer_->setText(QString::fromStdString(prompt_request.answer));
    workbench_->Read(prompt_request);
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
  prompt_request.text = editor_->Text().toStdString();
  const auto [begin, end] = editor_->GoldBytes();
  prompt_request.gold_begin = begin;
  prompt_request.gold_end = end;
  prompt_request.answer = answer_->text().toStdString();
  workbench_->Write(prompt_request);
  if (prompt_request.text.empty() && prompt_request.question.empty()) {
    throw UsageError("own text", "there is none", "Type or paste a text, or choose a task");
  }
  return prompt_request;
}

PromptFields PromptPanel::fields() const {
  return {pages_->currentIndex(), task_->text(),          seed_->value(),
          sample_->value(),       places_->text(),        format_->options().ToJson(),
          answer_->text(),        workbench_->question(), workbench_->places(),
          editor_->marked_text()};
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
  answer_->setText(fields.answer);
  workbench_->SetLines(fields.question, fields.text_places);
  if (editor_->marked_text() != fields.text) editor_->SetMarkedText(fields.text);
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
