// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt as text, each token on the colour of a number. The gold passage is underlined, pieces
// begin at a small bar, and a strip at the right shows the whole text with the gold and the part
// that is seen. Only seen tokens are painted, so that a text of any length is recoloured at once.
#pragma once

#include <QAbstractScrollArea>
#include <QHash>
#include <QVector>
#include <functional>
#include <optional>
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

  // The record `prompt`; null: no text.
  void SetPrompt(const Record* prompt);
  // Shows tokens as the tokenizer has them: spaces and line ends visible, special tokens, and where
  // one ends and the next begins.
  void SetRaw(bool raw);
  // One value per token.
  void SetValues(const QVector<double>& values, const TokenScale& scale);
  // Further lines of a token's tooltip.
  void SetTooltip(std::function<QString(int64_t token)> text) { tooltip_ = std::move(text); }
  void SetMarkedToken(int64_t token);  // -1: none
  void SetLockedToken(int64_t token);
  void SetRange(const TokenSpan& range);  // empty: none
  // Scrolls where the token is not seen.
  void ShowToken(int64_t token);
  void ScrollToLine(int line);

  const PromptText& prompt() const { return prompt_; }
  const QVector<double>& values() const { return values_; }
  const TokenScale& scale() const { return scale_; }
  // The token's colour; invalid for none.
  QColor ColorOf(int64_t token) const;
  // -1: none.
  int64_t TokenAt(const QPoint& position) const;
  // Where the token is painted, in the viewport; empty where it is not laid out.
  QRect RectOf(int64_t token) const;
  QString TooltipFor(int64_t token) const;
  int lines() const { return lines_; }
  int first_line() const;
  int seen_lines() const;
  int LineOf(int64_t token) const;
  // The token with the strongest colour of each line; -1: none.
  const QVector<int>& strongest() const { return strongest_; }
  // The selected tokens as the prompt's text.
  QString SelectedText() const;

 Q_SIGNALS:
  // -1: none.
  void TokenHovered(qint64 token);
  void TokenClicked(qint64 token);
  // Half-open; emitted while the pointer moves.
  void RangeBrushed(qint64 begin, qint64 end);
  void ReleaseRequested();
  // The text is laid out for another width.
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
  // A part of a token in one line.
  struct Fragment {
    int token = 0;
    int line = 0;
    int x = 0;
    int width = 0;
    QString text;
    bool dim = false;  // not a part of the text: the sign of a line end
  };

  void Layout();
  // Lays out again with the same token at the top.
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
  std::vector<Fragment> fragments_;   // in the order of the text
  std::vector<int> first_fragments_;  // of every token; -1: none
  std::vector<bool> piece_begins_;    // of every token
  QVector<int> strongest_;
  QHash<QString, int> widths_;
  int lines_ = 0;
  int x_ = 0;        // where the next fragment goes, while the text is laid out
  size_t word_ = 0;  // the fragment with which the word of the next one began
  bool raw_ = false;
  int64_t marked_ = -1;
  int64_t locked_ = -1;
  int64_t pressed_ = -1;  // the token where the button went down
  bool brushed_ = false;  // the pointer has been on another token since
  TokenSpan range_;
  TokenStrip* strip_;
};

// The strip beside a TokenText: the strongest colour of each part of the text, the gold and the
// part that is seen. Click or drag to go there.
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
