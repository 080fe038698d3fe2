// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/prompt_workbench.h"

#include <QCloseEvent>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "core/chat/chat_template.h"
#include "gui/base/record_access.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/plots/plot_style.h"
#include "gui/widgets/changed_button.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {
namespace {

constexpr int kPreviewDelay = 300;  // milliseconds after the last key press
constexpr QSize kUsualSize(1100, 720);

// The passage as bytes [begin, end) of the prompt's text, computed from its tokens.
std::pair<int, int> PassageBytes(const Record& prompt, int64_t span) {
  const auto byte = [&](const char* edge) {
    const double token = ValueAt(prompt, edge, {span});
    const double at = ValueAt(prompt, "token_begin", {static_cast<int64_t>(token)});
    const auto size = static_cast<double>(TextAttribute(prompt, "text").toUtf8().size());
    return static_cast<int>(std::isnan(at) ? size : at);
  };
  return {byte("span_token_begin"), byte("span_token_end")};
}

}  // namespace

PromptWorkbench::PromptWorkbench(PromptEditor* editor, QWidget* owner)
    : QWidget(owner, Qt::Window), editor_(editor) {
  setObjectName(QStringLiteral("prompt_workbench"));
  setWindowTitle(tr("Prompt workbench — Midscope"));
  resize(kUsualSize);
  preview_timer_ = new QTimer(this);
  preview_timer_->setSingleShot(true);
  preview_timer_->setInterval(kPreviewDelay);
  connect(preview_timer_, &QTimer::timeout, this, &PromptWorkbench::PreviewRequested);
  auto* halves = new QSplitter(this);
  halves->addWidget(MakeLeft());
  halves->addWidget(MakeRight());
  halves->setStretchFactor(0, 3);
  halves->setStretchFactor(1, 2);
  halves->setSizes({kUsualSize.width() * 3 / 5, kUsualSize.width() * 2 / 5});
  halves->setChildrenCollapsible(false);
  auto* column = new QVBoxLayout(this);
  column->addWidget(halves);
  connect(editor_, &PromptEditor::GoldChanged, this, &PromptWorkbench::ShowMarks);
  connect(editor_, &PromptEditor::Refused, this, [this](const QString& why) {
    note_->setText(why);
    note_->show();
  });
  for (QLineEdit* line : {question_, places_})
    connect(line, &QLineEdit::textChanged, this, &PromptWorkbench::Edited);
  connect(answer_, &QLineEdit::textEdited, this, &PromptWorkbench::AnswerEdited);
  connect(format_, &ParameterForm::Changed, this, &PromptWorkbench::FormatEdited);
  auto* find = new QShortcut(QKeySequence::Find, this);
  connect(find, &QShortcut::activated, this, [this] {
    find_->setFocus();
    find_->selectAll();
  });
  auto* run = new QShortcut(QKeySequence(Qt::Key_F5), this);
  connect(run, &QShortcut::activated, this, &PromptWorkbench::RunRequested);
  ShowMarks();
}

QLayout* PromptWorkbench::MakeFindRow() {
  auto* open = new QPushButton(tr("Open text…"), this);
  open->setToolTip(tr("Read a text file (UTF-8); or drop one on the text"));
  find_ = new QLineEdit(this);
  find_->setObjectName(QStringLiteral("workbench_find"));
  find_->setPlaceholderText(tr("Find (Ctrl+F)"));
  find_->setClearButtonEnabled(true);
  found_ = new QLabel(this);
  found_->setObjectName(QStringLiteral("workbench_found"));
  auto* previous = new QPushButton(QStringLiteral("\u25b2"), this);
  previous->setAccessibleName(tr("Previous"));
  previous->setToolTip(tr("Previous (Shift+Enter)"));
  auto* next = new QPushButton(QStringLiteral("\u25bc"), this);
  next->setAccessibleName(tr("Next"));
  next->setToolTip(tr("Next (Enter)"));
  auto* row = new QHBoxLayout;
  row->addWidget(open);
  row->addWidget(find_, 1);
  row->addWidget(found_);
  for (QPushButton* button : {previous, next}) {
    button->setFixedWidth(2 * fontMetrics().height());
    row->addWidget(button);
  }
  connect(open, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open text"));
    if (!path.isEmpty()) editor_->LoadFile(path);
  });
  connect(find_, &QLineEdit::textChanged, this, [this](const QString& words) {
    const int count = editor_->SetFind(words);
    found_->setText(words.isEmpty() ? QString() : tr("%1 found").arg(count));
  });
  connect(find_, &QLineEdit::returnPressed, this, [this] { Find(false); });
  find_->installEventFilter(this);
  connect(next, &QPushButton::clicked, this, [this] { Find(false); });
  connect(previous, &QPushButton::clicked, this, [this] { Find(true); });
  return row;
}

// Handles Shift+Enter, which a QLineEdit treats like Enter.
bool PromptWorkbench::eventFilter(QObject* watched, QEvent* event) {
  if (watched != find_ || event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<const QKeyEvent*>(event);
  const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
  if (!enter || !(key->modifiers() & Qt::ShiftModifier)) return false;
  Find(true);
  return true;
}

void PromptWorkbench::Find(bool backwards) {
  const int count = editor_->SetFind(find_->text());
  const int at = editor_->FindNext(backwards);
  found_->setText(find_->text().isEmpty() ? QString()
                  : count == 0            ? tr("0 found")
                                          : tr("%1 of %2").arg(at).arg(count));
}

QLayout* PromptWorkbench::MakePieceRow() {
  const auto button = [this](const QString& text, const char* name, const QString& tip) {
    auto* made = new QPushButton(text, this);
    made->setObjectName(QLatin1String(name));
    made->setToolTip(QStringLiteral("<p>") + tip + QStringLiteral("</p>"));
    return made;
  };
  auto* gold = button(tr("Mark as gold"), "workbench_gold",
                      tr("The selected passage is the one with the answer"));
  auto* piece = button(tr("Mark as piece"), "workbench_piece",
                       tr("The selected passage is one of several; the one with the gold passage "
                          "moves among them. Without a selection: the piece at the text cursor is "
                          "none any more"));
  auto* paragraphs = button(tr("Paragraphs as pieces"), "workbench_paragraphs",
                            tr("Every paragraph of the selection, or of the whole text, becomes a "
                               "piece. Paragraphs are parted by blank lines"));
  auto* clear = button(tr("No pieces"), "workbench_no_pieces", tr("The text has one prompt"));
  marks_ = new QLabel(this);
  marks_->setObjectName(QStringLiteral("workbench_marks"));
  auto* row = new FlowLayout;
  for (QWidget* widget : std::initializer_list<QWidget*>{gold, piece, paragraphs, clear, marks_})
    row->addWidget(widget);
  connect(gold, &QPushButton::clicked, editor_, &PromptEditor::MarkSelection);
  connect(piece, &QPushButton::clicked, editor_, &PromptEditor::MarkPiece);
  connect(paragraphs, &QPushButton::clicked, editor_, &PromptEditor::MarkParagraphs);
  connect(clear, &QPushButton::clicked, editor_, &PromptEditor::ClearPieces);
  return row;
}

QWidget* PromptWorkbench::MakeFields(QWidget* parent) {
  auto* fields = new QWidget(parent);
  question_ = new QLineEdit(fields);
  question_->setObjectName(QStringLiteral("workbench_question"));
  question_->setPlaceholderText(tr("none: the text is sent as it is"));
  question_->setToolTip(
      tr("<p>Put behind the text as <i>Question: …</i> and <i>Answer:</i>, as the task jsonl "
         "does; the answer then has one space in front</p>"));
  answer_ = new QLineEdit(fields);
  answer_->setObjectName(QStringLiteral("workbench_answer"));
  answer_->setPlaceholderText(tr("answer, with its leading space"));
  places_ = new QLineEdit(fields);
  places_->setObjectName(QStringLiteral("workbench_places"));
  places_->setPlaceholderText(tr("first, quarter, middle, three quarters, last"));
  places_->setToolTip(
      tr("<p>Places of the gold piece among the pieces: ranks such as 1,5,10 or 1-20, or shares "
         "such as 0%,25%,100%</p>"));
  format_ = new ParameterForm(PromptFormatOptions(), fields, "workbench_");
  format_->SetCheck([](const OptionSet& options) { ReadPromptFormat(options); });
  QStringList templates = {QStringLiteral("model")};
  for (const std::string& family : ChatFamilies()) templates << QString::fromStdString(family);
  format_->Offer("chat-template", templates);
  format_fold_ =
      new FoldBox(tr("Chat template, system message, begin-of-text token"), format_, fields);
  auto* form = new QFormLayout(fields);
  form->setContentsMargins(0, 0, 0, 0);
  form->addRow(tr("&question"), question_);
  form->addRow(tr("&answer"), answer_);
  form->addRow(tr("&places"), places_);
  form->addRow(format_fold_);
  return fields;
}

QWidget* PromptWorkbench::MakeLeft() {
  auto* left = new QWidget(this);
  editor_place_ = new QWidget(left);
  auto* place = new QVBoxLayout(editor_place_);
  place->setContentsMargins(0, 0, 0, 0);
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(MakeFindRow());
  column->addWidget(editor_place_, 1);
  column->addLayout(MakePieceRow());
  column->addWidget(MakeFields(left));
  return left;
}

QWidget* PromptWorkbench::MakeRight() {
  auto* right = new QWidget(this);
  tokens_ = new QLabel(right);
  tokens_->setObjectName(QStringLiteral("workbench_tokens"));
  place_ = new QComboBox(right);
  place_->setObjectName(QStringLiteral("workbench_place"));
  place_->setToolTip(tr("Place of the gold piece whose prompt is shown"));
  prompt_ = new QPlainTextEdit(right);
  prompt_->setObjectName(QStringLiteral("workbench_prompt"));
  prompt_->setAccessibleName(tr("The prompt as it would be sent"));
  prompt_->setReadOnly(true);
  prompt_->setPlaceholderText(tr("The prompt as it would be sent; open a model to see it"));
  note_ = new QLabel(right);
  note_->setObjectName(QStringLiteral("workbench_note"));
  note_->setWordWrap(true);
  note_->hide();
  run_ = new QPushButton(tr("Run"), right);
  run_->setObjectName(QStringLiteral("workbench_run"));
  run_->setToolTip(tr("Run the model on this (F5)"));
  auto* close = new QPushButton(tr("Close"), right);
  auto* top = new QHBoxLayout;
  top->addWidget(new QLabel(tr("sent at place"), right));
  top->addWidget(place_);
  top->addWidget(tokens_, 1);
  auto* bottom = new QHBoxLayout;
  bottom->addStretch(1);
  bottom->addWidget(run_);
  bottom->addWidget(close);
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(top);
  column->addWidget(prompt_, 1);
  column->addWidget(note_);
  column->addLayout(bottom);
  connect(place_, &QComboBox::currentIndexChanged, this, &PromptWorkbench::ShowPrompt);
  connect(run_, &QPushButton::clicked, this, &PromptWorkbench::RunRequested);
  connect(close, &QPushButton::clicked, this, &QWidget::close);
  return right;
}

void PromptWorkbench::Open() {
  editor_place_->layout()->addWidget(editor_);
  editor_->show();
  show();
  raise();
  activateWindow();
  editor_->setFocus();
  Q_EMIT PreviewRequested();
}

void PromptWorkbench::closeEvent(QCloseEvent* event) {
  preview_timer_->stop();
  find_->clear();
  event->accept();
  Q_EMIT Closed();
}

void PromptWorkbench::Write(PromptRequest& request) const {
  request.question = question_->text().trimmed().toStdString();
  request.pieces = editor_->Pieces();
  if (!request.pieces.empty())
    request.places = places_->text().remove(QLatin1Char(' ')).toStdString();
}

QString PromptWorkbench::question() const { return question_->text(); }

QString PromptWorkbench::places() const { return places_->text(); }

void PromptWorkbench::SetLines(const QString& question, const QString& places) {
  question_->setText(question);
  places_->setText(places);
}

void PromptWorkbench::Read(const PromptRequest& request) {
  SetLines(QString::fromStdString(request.question), QString::fromStdString(request.places));
  editor_->SetPieces(request.pieces);
}

void PromptWorkbench::SetAnswer(const QString& answer) {
  if (answer != answer_->text()) answer_->setText(answer);
}

void PromptWorkbench::SetFormat(const OptionSet& options) {
  const QSignalBlocker quiet(format_);
  format_->SetOptions(options);
}

void PromptWorkbench::SetWaiting(bool waiting) {
  run_->setText(waiting ? tr("Run (not run yet)") : tr("Run"));
  MarkChanged(run_, waiting);
}

void PromptWorkbench::Changed() {
  if (isVisible()) preview_timer_->start();
}

void PromptWorkbench::ShowMarks() {
  const auto pieces = static_cast<int>(editor_->Pieces().size());
  const bool gold = !editor_->GoldText().isEmpty();
  QString text = gold ? tr("gold is marked") : tr("nothing is marked as gold");
  if (pieces > 0) text += tr(", %n piece(s)", "", pieces);
  marks_->setText(text);
  places_->setEnabled(pieces > 0);
}

void PromptWorkbench::ShowPreview(const PromptPreview& preview, int64_t context) {
  note_->setVisible(!preview.failure.isEmpty());
  note_->setText(preview.failure);
  prompts_ = preview.prompts;
  const int before = place_->currentIndex();
  int64_t most = 0;
  {
    const QSignalBlocker quiet(place_);
    place_->clear();
    for (const Record& prompt : prompts_) {
      const int64_t place = IntegerAttribute(prompt, "place", 0);
      place_->addItem(place > 0 ? QString::number(place) : tr("own text"));
      most = std::max(most, IntegerAttribute(prompt, "prompt_tokens", 0));
    }
    place_->setCurrentIndex(std::clamp(before, prompts_.empty() ? -1 : 0, place_->count() - 1));
  }
  const QLocale locale;
  QString tokens = prompts_.empty() ? QString() : tr("%1 tokens").arg(locale.toString(most));
  if (!prompts_.empty() && context > 0) {
    tokens = tr("%1 of %2 tokens").arg(locale.toString(most), locale.toString(context));
    if (most > context) tokens = tr("<b>%1: too long</b>").arg(tokens);
  }
  tokens_->setText(tokens);
  ShowPrompt();
}

void PromptWorkbench::ShowPrompt() {
  const int index = place_->currentIndex();
  if (index < 0) {
    prompt_->clear();
    return;
  }
  const Record& prompt = prompts_[static_cast<size_t>(index)];
  const QByteArray text = TextAttribute(prompt, "text").toUtf8();
  prompt_->setPlainText(QString::fromUtf8(text));
  QList<QTextEdit::ExtraSelection> selections;
  const QStringList names = Texts(prompt, kSpanName);
  int gold_at = -1;
  for (qsizetype i = 0; i < names.size(); ++i) {
    const bool gold = names[i] == QLatin1String("gold");
    if (!gold && !names[i].startsWith(QLatin1String("piece "))) continue;
    const auto [begin, end] = PassageBytes(prompt, i);
    QTextEdit::ExtraSelection selection;
    selection.cursor = QTextCursor(prompt_->document());
    const auto position = [&](int byte) {
      return static_cast<int>(QString::fromUtf8(text.left(byte)).size());
    };
    selection.cursor.setPosition(position(begin));
    selection.cursor.setPosition(position(end), QTextCursor::KeepAnchor);
    QColor color = gold ? GoldColor() : SideColor(Side::kA);
    color.setAlpha(gold ? 120 : 45);
    selection.format.setBackground(color);
    selections.append(selection);
    if (gold) gold_at = position(begin);
  }
  prompt_->setExtraSelections(selections);
  if (gold_at < 0) return;
  QTextCursor cursor(prompt_->document());
  cursor.setPosition(gold_at);
  prompt_->setTextCursor(cursor);
  prompt_->centerCursor();
}

}  // namespace midscope
