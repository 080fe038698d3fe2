// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/tokens/token_text.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr int kMargin = 6;
constexpr int kStripWidth = 18;
constexpr int kLineGap = 5;
constexpr QChar kLineEnd(0x21b5);

bool BeginsWord(const QString& text) { return !text.isEmpty() && text[0].isSpace(); }

}  // namespace

TokenText::TokenText(QWidget* parent) : QAbstractScrollArea(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setLayoutDirection(Qt::LeftToRight);  // tokens are in the order of positions
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  viewport()->setCursor(Qt::IBeamCursor);
  viewport()->setBackgroundRole(QPalette::Base);
  viewport()->setAutoFillBackground(true);
  setMinimumSize(120, 60);
  strip_ = new TokenStrip(this);
  setViewportMargins(0, 0, kStripWidth, 0);
  prompt_ = ReadPromptText(nullptr);
}

void TokenText::SetPrompt(const Record* prompt) {
  prompt_ = ReadPromptText(prompt);
  const auto tokens = static_cast<size_t>(prompt_.tokens.size());
  piece_begins_.assign(tokens, false);
  for (const TokenSpan& piece : prompt_.pieces) {
    if (piece.begin >= 0 && static_cast<size_t>(piece.begin) < tokens) {
      piece_begins_[static_cast<size_t>(piece.begin)] = true;
    }
  }
  setAccessibleDescription(prompt_.text);
  values_.clear();
  Layout();
}

void TokenText::SetRaw(bool raw) {
  if (raw == raw_) return;
  raw_ = raw;
  LayoutAgain();
}

void TokenText::SetValues(const QVector<double>& values, const TokenScale& scale) {
  values_ = values;
  scale_ = scale;
  FindStrongest();
  viewport()->update();
  strip_->update();
}

void TokenText::SetMarkedToken(int64_t token) {
  if (token == marked_) return;
  for (const int64_t changed : {marked_, token}) viewport()->update(RectOf(changed));
  marked_ = token;
}

void TokenText::SetLockedToken(int64_t token) {
  if (token == locked_) return;
  locked_ = token;
  viewport()->update();
}

void TokenText::SetRange(const TokenSpan& range) {
  if (range == range_) return;
  range_ = range;
  viewport()->update();
  strip_->update();
}

int TokenText::line_height() const { return fontMetrics().height() + kLineGap; }

int TokenText::first_line() const { return verticalScrollBar()->value(); }

int TokenText::seen_lines() const { return std::max(viewport()->height() / line_height(), 1); }

int TokenText::WidthOf(const QString& text) {
  const auto known = widths_.constFind(text);
  if (known != widths_.constEnd()) return *known;
  return *widths_.insert(text, fontMetrics().horizontalAdvance(text));
}

void TokenText::EndLine() {
  ++lines_;
  x_ = 0;
  word_ = fragments_.size();
}

// A word of several tokens moves to the next line as a whole, unless it is at the start of its
// line.
void TokenText::Place(Fragment fragment, int available, bool begins_word) {
  if (begins_word) word_ = fragments_.size();
  if (x_ > 0 && x_ + fragment.width > available) {
    const bool moves =
        word_ < fragments_.size() && fragments_[word_].line == lines_ && fragments_[word_].x > 0;
    const size_t first = moves ? word_ : fragments_.size();
    ++lines_;
    x_ = 0;
    for (size_t i = first; i < fragments_.size(); ++i) {
      fragments_[i].line = lines_;
      fragments_[i].x = x_;
      x_ += fragments_[i].width;
    }
    word_ = first;
  }
  fragment.line = lines_;
  fragment.x = x_;
  x_ += fragment.width;
  fragments_.push_back(std::move(fragment));
}

void TokenText::PlaceToken(int token, int available) {
  const QString part = prompt_.Part(token);
  // A special token may have no text.
  if (part.isEmpty() && !raw_) return;
  first_fragments_[static_cast<size_t>(token)] = static_cast<int>(fragments_.size());
  if (part.isEmpty()) {
    const QString name = prompt_.tokens[token];
    Place({token, 0, 0, WidthOf(name) + 2, name, true}, available, true);
    return;
  }
  qsizetype begin = 0;
  while (begin <= part.size()) {
    const qsizetype end = part.indexOf('\n', begin);
    QString text = part.mid(begin, end < 0 ? -1 : end - begin);
    const bool word = BeginsWord(text);
    text.replace('\t', QStringLiteral("    ")).remove('\r');
    if (raw_) text.replace(' ', QChar(0xb7));
    if (!text.isEmpty()) Place({token, 0, 0, WidthOf(text), text, false}, available, word);
    if (end < 0) break;
    Place({token, 0, 0, WidthOf(kLineEnd), kLineEnd, true}, available, false);
    EndLine();
    begin = end + 1;
    if (begin == part.size()) break;
  }
}

void TokenText::Layout() {
  fragments_.clear();
  lines_ = 0;
  x_ = 0;
  word_ = 0;
  const auto tokens = static_cast<int>(prompt_.tokens.size());
  first_fragments_.assign(static_cast<size_t>(tokens), -1);
  const int available = std::max(viewport()->width() - 2 * kMargin, 40);
  for (int token = 0; token < tokens; ++token) PlaceToken(token, available);
  if (x_ > 0) ++lines_;
  verticalScrollBar()->setPageStep(seen_lines());
  verticalScrollBar()->setRange(0, std::max(lines_ - seen_lines(), 0));
  FindStrongest();
  viewport()->update();
  strip_->update();
}

void TokenText::LayoutAgain() {
  const auto top =
      std::lower_bound(fragments_.begin(), fragments_.end(), first_line(),
                       [](const Fragment& fragment, int line) { return fragment.line < line; });
  const int64_t token = top == fragments_.end() ? -1 : top->token;
  Layout();
  if (token >= 0) ScrollToLine(LineOf(token));
}

void TokenText::FindStrongest() {
  strongest_.fill(-1, lines_);
  QVector<double> strength(lines_, 0.0);
  for (const Fragment& fragment : fragments_) {
    const double own = scale_.StrengthOf(values_.value(fragment.token, std::nan("")));
    if (fragment.line >= lines_ || !(own > strength[fragment.line])) continue;
    strength[fragment.line] = own;
    strongest_[fragment.line] = fragment.token;
  }
}

QColor TokenText::ColorOf(int64_t token) const {
  return scale_.ColorOf(values_.value(token, std::nan("")), palette().color(QPalette::Base));
}

QRect TokenText::RectOf(const Fragment& fragment) const {
  return {kMargin + fragment.x, kMargin / 2 + (fragment.line - first_line()) * line_height(),
          fragment.width, line_height()};
}

int TokenText::LineOf(int64_t token) const {
  if (token < 0 || token >= static_cast<int64_t>(first_fragments_.size())) return -1;
  const int first = first_fragments_[static_cast<size_t>(token)];
  if (first < 0 || static_cast<size_t>(first) >= fragments_.size()) return -1;
  return fragments_[static_cast<size_t>(first)].line;
}

QRect TokenText::RectOf(int64_t token) const {
  if (LineOf(token) < 0) return {};
  QRect rect;
  for (auto i = static_cast<size_t>(first_fragments_[static_cast<size_t>(token)]);
       i < fragments_.size() && fragments_[i].token == token; ++i) {
    rect |= RectOf(fragments_[i]);
  }
  return rect;
}

void TokenText::PaintFragment(QPainter& painter, const Fragment& fragment,
                              const QRect& rect) const {
  const QRect ground = rect.adjusted(0, 1, 0, -1);
  QColor color = palette().color(QPalette::Text);
  if (const QColor own = ColorOf(fragment.token); own.isValid()) {
    painter.fillRect(ground, own);
    color = own.lightnessF() > 0.45 ? Qt::black : Qt::white;
  }
  if (fragment.token >= range_.begin && fragment.token < range_.end) {
    QColor chosen = palette().color(QPalette::Highlight);
    painter.fillRect(QRect(rect.left(), rect.bottom() - 3, rect.width(), 3), chosen);
    chosen.setAlpha(45);
    painter.fillRect(rect, chosen);
  }
  if (fragment.token >= prompt_.gold.begin && fragment.token < prompt_.gold.end) {
    painter.fillRect(QRect(ground.left(), ground.bottom() - 2, ground.width(), 3), GoldColor());
  }
  QColor faint = palette().color(QPalette::Text);
  faint.setAlpha(90);
  const bool first =
      &fragment ==
      &fragments_[static_cast<size_t>(first_fragments_[static_cast<size_t>(fragment.token)])];
  if (raw_ && first) {
    painter.fillRect(QRect(rect.left(), ground.top(), 1, ground.height()), faint);
  }
  if (first && piece_begins_[static_cast<size_t>(fragment.token)]) {
    painter.fillRect(QRect(rect.left() - 2, ground.top(), 2, ground.height()),
                     palette().color(QPalette::Link));
  }
  if (fragment.dim) color.setAlpha(fragment.text == kLineEnd ? 70 : 150);
  painter.setPen(color);
  painter.drawText(rect, Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextForceLeftToRight,
                   fragment.text);
  if (fragment.token == locked_ || fragment.token == marked_) {
    painter.setPen(QPen(palette().color(QPalette::Text), fragment.token == locked_ ? 2 : 1));
    painter.drawRect(ground.adjusted(0, 0, -1, -1));
  }
}

void TokenText::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  if (fragments_.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("The prompt's tokens appear here"));
    return;
  }
  const int first = first_line() + std::max(event->rect().top() / line_height() - 1, 0);
  const int last = first_line() + event->rect().bottom() / line_height() + 1;
  const auto in_line = [](const Fragment& fragment, int line) { return fragment.line < line; };
  for (auto at = std::lower_bound(fragments_.begin(), fragments_.end(), first, in_line);
       at != fragments_.end() && at->line <= last; ++at) {
    PaintFragment(painter, *at, RectOf(*at));
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
  painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
}

int64_t TokenText::TokenAt(const QPoint& position) const {
  const int line = first_line() + (position.y() - kMargin / 2) / line_height();
  const auto in_line = [](const Fragment& fragment, int wanted) { return fragment.line < wanted; };
  for (auto at = std::lower_bound(fragments_.begin(), fragments_.end(), line, in_line);
       at != fragments_.end() && at->line == line; ++at) {
    if (RectOf(*at).contains(position)) return at->token;
  }
  return -1;
}

QString TokenText::TooltipFor(int64_t token) const {
  if (token < 0 || token >= prompt_.tokens.size()) return {};
  QString tip = QStringLiteral("%1 (%2)").arg(ShownToken(prompt_.tokens[token])).arg(token);
  if (token >= prompt_.gold.begin && token < prompt_.gold.end) tip += tr("\nin the gold passage");
  for (const TokenSpan& piece : prompt_.pieces) {
    if (token >= piece.begin && token < piece.end) {
      tip += tr("\nin %1").arg(QString::fromStdString(piece.name));
    }
  }
  return tooltip_ ? tip + tooltip_(token) : tip;
}

QString TokenText::SelectedText() const {
  const auto tokens = static_cast<int64_t>(prompt_.tokens.size());
  const int64_t end = std::min(range_.end, tokens);
  if (range_.begin >= end) return {};
  return prompt_.text.mid(prompt_.begins[range_.begin],
                          prompt_.begins[end] - prompt_.begins[range_.begin]);
}

void TokenText::ScrollToLine(int line) { verticalScrollBar()->setValue(line); }

void TokenText::ShowToken(int64_t token) {
  const int line = LineOf(token);
  if (line < 0) return;
  if (line < first_line() || line >= first_line() + seen_lines()) {
    ScrollToLine(line - seen_lines() / 3);
  }
}

void TokenText::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  const QRect view = viewport()->geometry();
  strip_->setGeometry(view.right() + 1, view.top(), kStripWidth, view.height());
  LayoutAgain();
  Q_EMIT LaidOut();
}

void TokenText::scrollContentsBy(int /*dx*/, int /*dy*/) {
  viewport()->update();
  strip_->update();
}

void TokenText::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  widths_.clear();
  LayoutAgain();
}

void TokenText::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = TokenAt(event->position().toPoint());
  brushed_ = false;
}

void TokenText::mouseMoveEvent(QMouseEvent* event) {
  const int64_t token = TokenAt(event->position().toPoint());
  if ((event->buttons() & Qt::LeftButton) && pressed_ >= 0 && token >= 0) {
    brushed_ = brushed_ || token != pressed_;
    if (brushed_) Q_EMIT RangeBrushed(std::min(token, pressed_), std::max(token, pressed_) + 1);
    return;
  }
  QToolTip::showText(event->globalPosition().toPoint(), TooltipFor(token), this);
  Q_EMIT TokenHovered(token);
}

void TokenText::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (!brushed_ && pressed_ >= 0) Q_EMIT TokenClicked(pressed_);
  pressed_ = -1;
}

void TokenText::leaveEvent(QEvent* event) {
  QAbstractScrollArea::leaveEvent(event);
  Q_EMIT TokenHovered(-1);
}

void TokenText::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void TokenText::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

void TokenText::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    Q_EMIT ReleaseRequested();
  } else if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(SelectedText());
  } else {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace midscope
