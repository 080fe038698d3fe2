// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the prompt as text, each token on a colour for its value. The gold passage is underlined, a
// small bar marks the begin of each piece, and a strip at the right shows the whole text with the
// gold and the visible part. Only visible tokens are painted, so that texts of any length can be
// recoloured at once.
#pragma once

#include <QAbstractScrollArea>
#include <QHash>
#include <QVector>
#include <functional>
#include <vector>

#include "core/base/record.h"
#include "gui/base/prompt_text.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {

class TokenStrip;

class TokenText : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TokenText(QWidget* parent = nullptr);

  // `prompt`: the record of that name; null: no text.
  void SetPrompt(const Record* prompt);
  // Sets whether tokens are shown as the tokenizer produces them: with visible spaces, line ends
  // and special tokens, and with borders between tokens.
  void SetRaw(bool raw);
  // One value per token.
  void SetValues(const QVector<double>& values, const TokenScale& scale);
  // Sets a function that returns further lines for a token's tooltip.
  void SetTooltip(std::function<QString(int64_t token)> text) { tooltip_ = std::move(text); }
  void SetMarkedToken(int64_t token);  // -1: none
  void SetLockedToken(int64_t token);
  void SetRange(const TokenSpan& range);  // empty: none
  // Scrolls to the token if it is not visible.
  void ShowToken(int64_t token);
  void ScrollToLine(int line);

  const PromptText& prompt() const { return prompt_; }
  const QVector<double>& values() const { return values_; }
  const TokenScale& scale() const { return scale_; }
  // The token's background colour; invalid if it has no value.
  QColor ColorOf(int64_t token) const;
  // Index of the token at the position; -1: none.
  int64_t TokenAt(const QPoint& position) const;
  // The rectangle of the token in the viewport; empty if it is not laid out.
  QRect RectOf(int64_t token) const;
  QString TooltipFor(int64_t token) const;
  int lines() const { return lines_; }
  int first_line() const;
  int seen_lines() const;
  int LineOf(int64_t token) const;
  // For each line, the token with the strongest colour; -1: none.
  const QVector<int>& strongest() const { return strongest_; }
  // The prompt's text in the selected range of tokens.
  QString SelectedText() const;

 Q_SIGNALS:
  // -1: none.
  void TokenHovered(qint64 token);
  void TokenClicked(qint64 token);
  // Half-open [begin, end); emitted while the pointer moves.
  void RangeBrushed(qint64 begin, qint64 end);
  void ReleaseRequested();
  // Emitted after the text was laid out for another width.
  void LaidOut();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  // The part of a token that is in one line.
  struct Fragment {
    int token = 0;
    int line = 0;
    int x = 0;
    int width = 0;
    QString text;
    bool dim = false;  // not part of the text: the symbol for a line end
  };

  void Layout();
  // Repeats the layout and keeps the first visible token.
  void LayoutAgain();
  void PlaceToken(int token, int available);
  void Place(Fragment fragment, int available, bool begins_word);
  void EndLine();
  int WidthOf(const QString& text);
  void FindStrongest();
  void PaintFragment(QPainter& painter, const Fragment& fragment, const QRect& rect) const;
  QRect RectOf(const Fragment& fragment) const;
  int line_height() const;

  PromptText prompt_;
  QVector<double> values_;
  TokenScale scale_;
  std::function<QString(int64_t)> tooltip_;
  std::vector<Fragment> fragments_;   // in text order
  std::vector<int> first_fragments_;  // per token; -1: none
  std::vector<bool> piece_begins_;    // per token
  QVector<int> strongest_;
  QHash<QString, int> widths_;
  int lines_ = 0;
  int x_ = 0;        // position of the next fragment during layout
  size_t word_ = 0;  // index of the first fragment of the current word during layout
  bool raw_ = false;
  int64_t marked_ = -1;
  int64_t locked_ = -1;
  int64_t pressed_ = -1;  // the token where the mouse button was pressed
  bool brushed_ = false;  // whether the pointer has been on another token since then
  TokenSpan range_;
  TokenStrip* strip_;
};

// The strip beside a TokenText. It shows the strongest colour of each part of the text, the gold
// and the visible part; a click or drag scrolls there.
class TokenStrip : public QWidget {
  Q_OBJECT

 public:
  explicit TokenStrip(TokenText* text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void GoTo(double y);

  TokenText* text_;
};

}  // namespace midscope
