// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/own_text_page.h"

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
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/plots/plot_style.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

constexpr int kPreviewDelay = 300;  // milliseconds after the last key press

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

OwnTextPage::OwnTextPage(QWidget* parent) : QWidget(parent), editor_(new PromptEditor(this)) {
  setObjectName(QStringLiteral("own_text_page"));
  preview_timer_ = new QTimer(this);
  preview_timer_->setSingleShot(true);
  preview_timer_->setInterval(kPreviewDelay);
  connect(preview_timer_, &QTimer::timeout, this, &OwnTextPage::PreviewRequested);
  auto* halves = new QSplitter(Qt::Vertical, this);
  halves->addWidget(MakeText());
  halves->addWidget(MakePreview());
  halves->setStretchFactor(0, 3);
  halves->setStretchFactor(1, 2);
  halves->setChildrenCollapsible(false);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(halves);
  connect(editor_, &PromptEditor::GoldChanged, this, &OwnTextPage::ShowMarks);
  connect(editor_, &PromptEditor::GoldChanged, this, &OwnTextPage::Edited);
  connect(editor_, &PromptEditor::Refused, this, [this](const QString& why) {
    note_->setText(why);
    note_->show();
  });
  for (QLineEdit* line : {question_, answer_, places_})
    connect(line, &QLineEdit::textChanged, this, &OwnTextPage::Edited);
  auto* find = new QShortcut(QKeySequence::Find, this);
  find->setContext(Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, this, [this] {
    find_->setFocus();
    find_->selectAll();
  });
  QWidget* before = editor_;
  for (QLineEdit* line : {question_, answer_, places_}) {
    setTabOrder(before, line);
    before = line;
  }
  ShowMarks();
}

QLayout* OwnTextPage::MakeFindRow() {
  auto* open = new QPushButton(tr("Open text…"), this);
  open->setToolTip(tr("Read a text file (UTF-8); or drop one on the text"));
  find_ = Named(new QLineEdit(this), "own_text_find");
  find_->setPlaceholderText(tr("Find (Ctrl+F)"));
  find_->setClearButtonEnabled(true);
  found_ = Named(new QLabel(this), "own_text_found");
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
bool OwnTextPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched != find_ || event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<const QKeyEvent*>(event);
  const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
  if (!enter || !(key->modifiers() & Qt::ShiftModifier)) return false;
  Find(true);
  return true;
}

void OwnTextPage::Find(bool backwards) {
  const int count = editor_->SetFind(find_->text());
  const int at = editor_->FindNext(backwards);
  found_->setText(find_->text().isEmpty() ? QString()
                  : count == 0            ? tr("0 found")
                                          : tr("%1 of %2").arg(at).arg(count));
}

QLayout* OwnTextPage::MakePieceRow() {
  const auto button = [this](const QString& text, const char* name, const QString& tip) {
    return Named(new QPushButton(text, this), name, QStringLiteral("<p>%1</p>").arg(tip));
  };
  auto* gold = button(tr("Mark as gold"), "own_text_gold",
                      tr("The selected passage is the one with the answer"));
  auto* piece = button(tr("Mark as piece"), "own_text_piece",
                       tr("The selected passage is one of several; the one with the gold passage "
                          "moves among them. Without a selection: the piece at the text cursor is "
                          "none any more"));
  auto* paragraphs = button(tr("Paragraphs as pieces"), "own_text_paragraphs",
                            tr("Every paragraph of the selection, or of the whole text, becomes a "
                               "piece. Paragraphs are parted by blank lines"));
  auto* clear = button(tr("No pieces"), "own_text_no_pieces", tr("The text has one prompt"));
  marks_ = Named(new QLabel(this), "own_text_marks");
  marks_->setTextFormat(Qt::PlainText);
  auto* row = new FlowLayout;
  for (QWidget* widget : {gold, piece, paragraphs, clear}) row->addWidget(widget);
  connect(gold, &QPushButton::clicked, editor_, &PromptEditor::MarkSelection);
  connect(piece, &QPushButton::clicked, editor_, &PromptEditor::MarkPiece);
  connect(paragraphs, &QPushButton::clicked, editor_, &PromptEditor::MarkParagraphs);
  connect(clear, &QPushButton::clicked, editor_, &PromptEditor::ClearPieces);
  return row;
}

QWidget* OwnTextPage::MakeFields(QWidget* parent) {
  auto* fields = new QWidget(parent);
  question_ =
      Named(new QLineEdit(fields), "own_text_question",
            tr("<p>Put behind the text as <i>Question: …</i> and <i>Answer:</i>, as the task jsonl "
               "does; the answer then has one space in front</p>"));
  question_->setPlaceholderText(tr("none: the text is sent as it is"));
  answer_ = Named(new QLineEdit(fields), "answer",
                  tr("<p>What should follow the text; its likelihood is measured. Without a "
                     "question, begin it with a space if the text does not end with one</p>"));
  answer_->setPlaceholderText(tr("none: nothing is measured"));
  places_ = Named(
      new QLineEdit(fields), "own_text_places",
      tr("<p>Places of the gold piece among the pieces: ranks such as 1,5,10 or 1-20, or shares "
         "such as 0%,25%,100%</p>"));
  places_->setPlaceholderText(tr("first, quarter, middle, three quarters, last"));
  auto* form = WithoutMargins(new QFormLayout(fields));
  form->addRow(tr("&question"), question_);
  form->addRow(tr("&answer"), answer_);
  form->addRow(tr("&places"), places_);
  return fields;
}

QWidget* OwnTextPage::MakeText() {
  auto* top = new QWidget(this);
  auto* column = WithoutMargins(new QVBoxLayout(top));
  column->addLayout(MakeFindRow());
  column->addWidget(editor_, 1);
  column->addLayout(MakePieceRow());
  column->addWidget(marks_);  // a row of its own: no button moves when the text grows
  column->addWidget(MakeFields(top));
  return top;
}

QWidget* OwnTextPage::MakePreview() {
  auto* bottom = new QWidget(this);
  tokens_ = Named(new QLabel(bottom), "own_text_tokens");
  place_ = Named(new QComboBox(bottom), "own_text_place",
                 tr("Place of the gold piece whose prompt is shown"));
  prompt_ = Named(new QPlainTextEdit(bottom), "own_text_prompt");
  prompt_->setAccessibleName(tr("The prompt as it would be sent"));
  prompt_->setReadOnly(true);
  prompt_->setPlaceholderText(tr("The prompt as it would be sent"));
  note_ = Named(new QLabel(bottom), "own_text_note");
  note_->setWordWrap(true);
  note_->hide();
  auto* top = new QHBoxLayout;
  top->addWidget(new QLabel(tr("sent with the answer at"), bottom));
  top->addWidget(place_);
  top->addWidget(tokens_, 1);
  auto* column = WithoutMargins(new QVBoxLayout(bottom));
  column->addLayout(top);
  column->addWidget(prompt_, 1);
  column->addWidget(note_);
  connect(place_, &QComboBox::currentIndexChanged, this, &OwnTextPage::ShowPrompt);
  return bottom;
}

void OwnTextPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  Q_EMIT PreviewRequested();
}

void OwnTextPage::Write(PromptRequest& request) const {
  request.text = editor_->Text().toStdString();
  const auto [begin, end] = editor_->GoldBytes();
  request.gold_begin = begin;
  request.gold_end = end;
  request.answer = answer_->text().toStdString();
  request.question = question_->text().trimmed().toStdString();
  request.pieces = editor_->Pieces();
  if (!request.pieces.empty())
    request.places = places_->text().remove(QLatin1Char(' ')).toStdString();
}

QString OwnTextPage::question() const { return question_->text(); }

QString OwnTextPage::places() const { return places_->text(); }

void OwnTextPage::SetLines(const QString& question, const QString& places) {
  question_->setText(question);
  places_->setText(places);
}

void OwnTextPage::Read(const PromptRequest& request) {
  editor_->SetText(QString::fromStdString(request.text));
  editor_->MarkBytes(request.gold_begin, request.gold_end);
  answer_->setText(QString::fromStdString(request.answer));
  SetLines(QString::fromStdString(request.question), QString::fromStdString(request.places));
  editor_->SetPieces(request.pieces);
}

void OwnTextPage::Changed() {
  if (isVisible()) preview_timer_->start();
}

void OwnTextPage::ShowMarks() {
  const auto pieces = static_cast<int>(editor_->Pieces().size());
  const QString gold = editor_->GoldText();
  QString text =
      gold.isEmpty() ? tr("nothing is marked as gold") : tr("gold: %1").arg(Quoted(gold));
  if (pieces > 0) text += tr(", %n piece(s)", "", pieces);
  marks_->setText(text);
  marks_->setToolTip(QStringLiteral("<p>") + gold.toHtmlEscaped() + QStringLiteral("</p>"));
  places_->setEnabled(pieces > 0);
}

void OwnTextPage::ShowPreview(const PromptPreview& preview, int64_t context) {
  note_->setVisible(!preview.failure.isEmpty());
  note_->setText(preview.failure);
  prompts_ = preview.prompts;
  const int before = place_->currentIndex();
  int64_t most = 0;
  {
    const QSignalBlocker quiet(place_);
    place_->clear();
    for (const Record& prompt : prompts_) {
      place_->addItem(PromptName(prompt));
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

void OwnTextPage::ShowPrompt() {
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
