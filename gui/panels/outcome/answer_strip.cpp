// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/answer_strip.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QTextEdit>
#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/plots/plot_style.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/session/two_models.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

constexpr int kMostTokens = 4096;
constexpr int kTextLines = 2;  // number of visible lines; the rest scrolls

QString Escaped(const QString& text) {
  // Leading and trailing spaces are part of a token.
  return text.toHtmlEscaped().replace(QLatin1Char(' '), QStringLiteral("&nbsp;"));
}

QString TokenHtml(const QString& token) {
  return QStringLiteral("<b>") + Escaped(ShownToken(token)) + QStringLiteral("</b>");
}

QString Probability(double value) {
  return std::isnan(value) ? QString() : QStringLiteral("p %1").arg(value, 0, 'g', 2);
}

// Marks a rich text that is wider than its label.
class CutLabel : public QLabel {
 public:
  using QLabel::QLabel;

 protected:
  void paintEvent(QPaintEvent* event) override {
    QLabel::paintEvent(event);
    if (sizeHint().width() <= width()) return;
    const QString dots(QChar(0x2026));
    QRect end = rect();
    end.setLeft(end.right() - fontMetrics().horizontalAdvance(dots));
    QPainter painter(this);
    painter.fillRect(end, palette().color(QPalette::Base));
    painter.drawText(end, Qt::AlignVCenter, dots);
  }
};

// The grey text for a record that is not of the requested setting.
QString Grey(const QString& html) {
  return QStringLiteral("<span style='color:#808080'>%1</span>").arg(html);
}

QString SideHtml(Side side) {
  return QStringLiteral("<b style='color:%1'>%2</b>")
      .arg(SideColor(side).name(), side == Side::kA ? QObject::tr("A") : QObject::tr("B"));
}

// The difference of B from A, and the ratio of the answer's probabilities; differences below the
// noise are not given as numbers.
QString DifferenceHtml(double difference, double noise) {
  constexpr double kLeast = 0.005;  // smaller ones are shown as 0
  constexpr double kMostTimes = 1000;
  if (difference != 0 && std::abs(difference) < noise)
    return QObject::tr("B − A <b>within noise</b> (%1 nats)").arg(noise, 0, 'g', 2);
  QString nats = QObject::tr("B − A <b>%1%2</b> nats")
                     .arg(difference > 0 ? QStringLiteral("+") : QString())
                     .arg(difference, 0, 'f', 2);
  if (std::abs(difference) < kLeast) return nats;
  const double times = std::exp(std::abs(difference));
  const QString factor = times > kMostTimes ? QObject::tr("over %1").arg(kMostTimes)
                                            : QString::number(times, 'f', times < 10 ? 1 : 0);
  return nats + QStringLiteral("<br>") +
         (difference < 0 ? QObject::tr("%1× likelier") : QObject::tr("%1× less likely"))
             .arg(factor);
}

// A tick or a cross, because colour alone would not suffice.
QString MarkHtml(const std::optional<bool>& right, bool older) {
  if (!right) return {};
  const char* color = *right ? "#1a9850" : "#d73027";
  return QStringLiteral(" <b style='color:%1'>%2</b>")
      .arg(QLatin1String(older ? "#808080" : color),
           *right ? QStringLiteral("\u2713") : QStringLiteral("\u2717"));
}

QString NextHtml(const SaidFacts& said) {
  if (said.next.isEmpty()) return {};
  const QString html =
      QObject::tr("predicts %1 %2").arg(TokenHtml(said.next), Probability(said.next_probability));
  return said.answered_place.isEmpty()
             ? html
             : html + Grey(QObject::tr(" (of %1)").arg(said.answered_place));
}

QString AnswerHtml(const SaidFacts& said) {
  if (said.answer_rank < 0) return {};
  return QObject::tr("%1 has %2, rank %3")
      .arg(TokenHtml(said.answer_token), Probability(said.answer_probability))
      .arg(said.answer_rank + 1);
}

// The tokens as HTML; the first token that differs from the other text is marked.
QString TextHtml(const QStringList& tokens, qsizetype difference, const QString& end) {
  QString html;
  for (qsizetype i = 0; i < tokens.size(); ++i) {
    const QString token = tokens[i].toHtmlEscaped();
    html += i == difference ? QStringLiteral("<b style='background-color:rgba(240,190,30,140)'>") +
                                  token + QStringLiteral("</b>")
                            : token;
  }
  const QString mark = difference == tokens.size() && !tokens.isEmpty()
                           ? QStringLiteral(
                                 "<b style='background-color:rgba(240,190,30,140)'>"
                                 "&nbsp;</b>")
                           : QString();
  return QStringLiteral(
             "<span style='white-space:pre-wrap'>%1</span>%2 <i style='color:#808080'>"
             "[%3]</i>")
      .arg(html, mark, end.toHtmlEscaped());
}

}  // namespace

AnswerStrip::AnswerStrip(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  setObjectName(QStringLiteral("answer_strip"));
  question_ = Named(new ElidedLabel(this), "answer_question");
  expected_ = Named(new QLabel(this), "answer_expected");
  expected_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  difference_ = Named(
      new QLabel(this), "answer_difference",
      tr("<p>Nats of the whole answer (answer_nll): negative log-likelihood, smaller is better. "
         "B − A below 0: B makes the answer likelier, by the factor below it. Noise: how far the "
         "nats of A change in this "
         "dtype if the last rows are run alone instead of with all others</p>"));
  warning_ = Named(new QLabel(this), "answer_warning");
  warning_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  tokens_ = Named(new QSpinBox(this), "answer_tokens", tr("At most so many tokens are generated"));
  tokens_->setRange(1, kMostTokens);
  tokens_->setValue(static_cast<int>(GenerateRequest::kUsualTokens));
  tokens_->setSuffix(tr(" tokens"));
  generate_ = Named(
      new QPushButton(this), "answer_generate",
      tr("<p>The model's text after this prompt, always by the likeliest token, until it ends "
         "its text; the first token that differs between A and B is marked</p>"));
  auto* cards = new QHBoxLayout;
  cards->setSpacing(6);
  cards->addWidget(MakeCard({{question_}, {expected_, warning_}}), 3);
  for (const Side side : {Side::kA, Side::kB}) {
    const Row row = rows_[side] = MakeRow(side);
    cards->addWidget(MakeCard({{row.mark, row.setting}, {row.next}, {row.nats, row.answer}}), 4);
  }
  cards->addWidget(MakeCard({{difference_}}), 1);
  cards->addWidget(generate_);
  texts_ = new QWidget(this);
  auto* texts = WithoutMargins(new QHBoxLayout(texts_));
  for (const Side side : {Side::kA, Side::kB}) texts->addWidget(rows_.at(side).text, 1);
  texts->addWidget(tokens_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 2, 4, 2);
  column->setSpacing(2);
  column->addLayout(cards);
  column->addWidget(texts_);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  connect(generate_, &QPushButton::clicked, this, &AnswerStrip::GenerateOrStop);
  connect(session_, &Session::Changed, this, &AnswerStrip::Refresh);
  Refresh(kRecordChanges | Change::kPrompts | Change::kGeneration);
}

// The height is that of three lines, whatever is known, so that nothing below moves.
QFrame* AnswerStrip::MakeCard(const std::vector<std::vector<QWidget*>>& lines) {
  auto* card = new QFrame(this);
  card->setFrameShape(QFrame::StyledPanel);
  card->setBackgroundRole(QPalette::Base);
  card->setAutoFillBackground(true);
  card->setLayoutDirection(Qt::LeftToRight);  // that of the text in it
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(8, 2, 8, 2);
  column->setSpacing(0);
  for (const std::vector<QWidget*>& line : lines) {
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    for (QWidget* part : line) row->addWidget(part, part == line.back() ? 1 : 0);
    column->addLayout(row);
  }
  column->addStretch(1);
  cards_.push_back(card);
  FitCards();
  return card;
}

void AnswerStrip::FitCards() {
  constexpr int kLines = 3;
  constexpr int kMargins = 8;
  for (QFrame* card : cards_) card->setFixedHeight(kLines * fontMetrics().lineSpacing() + kMargins);
}

AnswerStrip::Row AnswerStrip::MakeRow(Side side) {
  const QString letter = side == Side::kA ? QStringLiteral("a") : QStringLiteral("b");
  Row row;
  const auto label = [&](const char* what) {
    QLabel* made =
        Named(new CutLabel(this), QStringLiteral("answer_%1_%2").arg(QLatin1String(what), letter));
    made->setTextFormat(Qt::RichText);
    // A long token is cut off instead of widening the window.
    made->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    return made;
  };
  row.mark = label("mark");
  row.setting = Named(new ElidedLabel(this, Qt::ElideMiddle),
                      QStringLiteral("answer_setting_%1").arg(letter));
  row.next = label("next");
  row.answer = label("token");
  row.nats = label("nats");
  for (QLabel* whole : {row.mark, row.nats})
    whole->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  row.text = Named(new QTextEdit(this), QStringLiteral("answer_text_%1").arg(letter));
  row.text->setAccessibleName(tr("Text that the model generated under %1").arg(letter.toUpper()));
  row.text->setReadOnly(true);
  row.text->setFrameShape(QFrame::NoFrame);
  row.text->setTabChangesFocus(true);
  row.text->document()->setDocumentMargin(0);
  row.text->setFixedHeight(kTextLines * fontMetrics().lineSpacing() + 2);
  row.text->viewport()->setAutoFillBackground(false);
  return row;
}

int AnswerStrip::tokens() const { return tokens_->value(); }

void AnswerStrip::SetTokens(int tokens) { tokens_->setValue(tokens); }

void AnswerStrip::GenerateOrStop() {
  if (session_->generates()) {
    session_->StopGenerating();
  } else {
    session_->Generate(tokens_->value());
  }
}

void AnswerStrip::Refresh(Changes changes) {
  const bool said = changes & (kRecordChanges | Change::kPrompts | Change::kSettings |
                               Change::kModel | Change::kSample);
  if (said) {
    // A slider step does not change the prompt, which may be long.
    const bool same = !(changes & (Change::kPrompts | Change::kModel | Change::kSample)) &&
                      !session_->shows_file();
    if (!same) requested_ = ShownAnswerOf(*session_);
    const SaidFacts a = SaidOf(*session_, Side::kA);
    const SaidFacts b = session_->differs() ? SaidOf(*session_, Side::kB) : SaidFacts();
    ShowRequested(a, b);
    ShowSaid(Side::kA, a);
    ShowSaid(Side::kB, b);
  }
  if (said || (changes & Change::kGeneration)) {
    ShowTexts();
    ShowButton();
  }
}

void AnswerStrip::ShowRequested(const SaidFacts& a, const SaidFacts& b) {
  QString question = requested_.question;
  if (question.isEmpty()) {
    question = session_->shows_file()
                   ? tr("The file has no prompt, so no question can be shown")
                   : tr("Run a prompt to see the question and the model's answer");
  }
  question_->SetText(question);
  question_->setEnabled(!requested_.question.isEmpty());
  expected_->setVisible(!requested_.question.isEmpty());
  expected_->setText(requested_.answer.isEmpty()
                         ? Grey(tr("no answer given"))
                         : tr("expected <b>%1</b>").arg(Escaped(ShownToken(requested_.answer))));
  expected_->setToolTip(
      requested_.answer.isEmpty()
          ? tr("<p>Give an answer beside the text, and its likelihood is "
               "measured</p>")
          : tr("<p>The expected answer as tokens: %1%2</p>")
                .arg(TokensText(requested_.answer_tokens).toHtmlEscaped(), TokensOfB()));
  const double difference = b.answer_nll - a.answer_nll;
  difference_->setVisible(!std::isnan(difference));
  const QString tokens_differ = WhyNotComparable(*session_, Compared::kNextTokens);
  if (!std::isnan(difference)) {
    QString text = DifferenceHtml(difference, std::max(a.noise, b.noise));
    // A probability of a token has no counterpart; that of the whole text has.
    if (!tokens_differ.isEmpty()) text += QStringLiteral("<br>") + Grey(tr("whole answers"));
    difference_->setText(a.outcome_older || b.outcome_older ? Grey(text) : text);
  }
  QString warning = SpaceWarning(requested_, a);
  if (warning.isEmpty()) warning = SpaceWarning(requested_, b);
  warning_->setVisible(!warning.isEmpty());
  warning_->setText(QStringLiteral("<b>⚠</b> ") + Escaped(warning));
}

// The answer's tokens in the second model, if they are others.
QString AnswerStrip::TokensOfB() const {
  const Record* of_b = session_->prompt(Side::kB);
  if (!session_->second() || !of_b) return {};
  const QStringList tokens = Texts(*of_b, kAnswerTokenText);
  return tokens == requested_.answer_tokens
             ? QString()
             : tr("; in the model of B: %1").arg(TokensText(tokens).toHtmlEscaped());
}

void AnswerStrip::ShowSaid(Side side, const SaidFacts& said) {
  const Row& row = rows_.at(side);
  const bool there = side == Side::kA || session_->differs();
  const std::string setting = PrintIntervention(session_->setting(side));
  const QString letter = side == Side::kA ? tr("A") : tr("B");
  const QString model = SideModel(*session_, side);
  const QString shown_setting = !there && session_->shows_file() ? tr("The file has no answer of B")
                                : !there                         ? tr("B is the same as A")
                                : setting == "none"
                                    ? tr("as trained")
                                    : session_->marks()->Shown(QString::fromStdString(setting));
  row.setting->SetText(model.isEmpty() ? shown_setting
                                       : QStringLiteral("%1 · %2").arg(model, shown_setting));
  for (QLabel* label : {row.mark, row.next, row.answer, row.nats})
    label->setVisible(there && said.known());
  if (!there && session_->ready() && !session_->shows_file()) {
    row.next->setText(Grey(tr("Move the slider of a change, or press Try")));
    row.next->setToolTip(QString());
    row.next->show();
  }
  if (!there || !said.known()) return;
  const bool older = said.name.older;
  const auto shown = [](const QString& html, bool grey) { return grey ? Grey(html) : html; };
  row.mark->setText(SideHtml(side) + MarkHtml(said.right, said.outcome_older));
  QString next = shown(NextHtml(said), older);
  if (older || (said.outcome_older && said.next.isEmpty()))
    next += Grey(QStringLiteral(" (%1)").arg(said.name.text.toHtmlEscaped()));
  row.next->setText(next);
  row.answer->setText(shown(AnswerHtml(said), older));
  row.nats->setText(std::isnan(said.answer_nll) || requested_.answer.isEmpty()
                        ? QString()
                        : shown(tr("%1 nats").arg(said.answer_nll, 0, 'f', 2), said.outcome_older));
  const QString right = !said.right   ? QString()
                        : *said.right ? tr("right: the likeliest tokens are the answer")
                                      : tr("wrong: the likeliest tokens are not the answer");
  row.mark->setAccessibleName(QStringLiteral("%1 %2").arg(letter, right));
  for (QLabel* label : {row.mark, row.next, row.answer, row.nats}) {
    const QString tip = right.isEmpty() ? said.name.full : said.name.full + tr("; ") + right;
    label->setToolTip(QStringLiteral("<p>") + tip.toHtmlEscaped() + QStringLiteral("</p>"));
  }
}

void AnswerStrip::ShowTexts() {
  const Record* a = session_->record(Side::kA, kGenerationRecord);
  const Record* b = session_->record(Side::kB, kGenerationRecord);
  texts_->setVisible(a || b);
  // Texts of other tokens are compared by characters.
  const bool by_character = !WhyNotComparable(*session_, Compared::kNextTokens).isEmpty();
  const auto tokens_of = [by_character](const Record* record) {
    const QStringList tokens = GeneratedTokens(record);
    return by_character ? tokens.join(QString()).split(QString(), Qt::SkipEmptyParts) : tokens;
  };
  const QStringList tokens_a = tokens_of(a);
  const QStringList tokens_b = tokens_of(b);
  const auto runs = [](const Record* record) {
    return record && IntegerAttribute(*record, "complete", 1) == 0;
  };
  qsizetype difference = FirstDifference(tokens_a, tokens_b);
  // A text that is still being generated and equal so far does not differ.
  if (difference == std::min(tokens_a.size(), tokens_b.size()) && (runs(a) || runs(b)))
    difference = -1;
  for (const Side side : {Side::kA, Side::kB}) {
    Row& row = rows_.at(side);
    const Record* record = side == Side::kA ? a : b;
    row.text->setVisible(record != nullptr);
    if (!record) continue;
    const RecordName name = NameOf(*session_, side, record);
    const bool stopped = runs(record) && !session_->generates();
    const QString end = stopped ? tr("stopped") : EndText(record);
    const QString html =
        TextHtml(side == Side::kA ? tokens_a : tokens_b, difference, end) +
        (name.older ? QStringLiteral(" <i>(%1)</i>").arg(name.text.toHtmlEscaped()) : QString());
    const QString shown = name.older ? Grey(html) : html;
    if (shown == row.shown) continue;
    row.shown = shown;
    row.text->setHtml(shown);
    row.text->setToolTip(QStringLiteral("<p>") + name.full.toHtmlEscaped() +
                         QStringLiteral("</p>"));
    // Scrolls to the newest tokens during generation.
    if (runs(record))
      row.text->verticalScrollBar()->setValue(row.text->verticalScrollBar()->maximum());
  }
}

void AnswerStrip::ShowButton() {
  const bool runs = session_->generates();
  generate_->setText(runs ? tr("Stop") : tr("Generate"));
  generate_->setEnabled(runs || session_->ready());
  tokens_->setEnabled(session_->ready());
  generate_->setVisible(!session_->shows_file());
}

void AnswerStrip::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  FitCards();
  for (const auto& [side, row] : rows_)
    row.text->setFixedHeight(kTextLines * fontMetrics().lineSpacing() + 2);
}

}  // namespace midscope
