// SPDX-License-Identifier: GPL-3.0-or-later
// The selection that all panels share: one head and pinned heads, a token and a range of tokens,
// the visible part of the token axis, and which of the settings A and B are shown. Hovering
// previews a head or a token, and a click selects it.
//
// The selection does not change when a panel has no data or when a model has fewer heads: panels
// clamp what they draw, never the selection.
#pragma once

#include <QColor>
#include <QObject>
#include <QTimer>
#include <optional>
#include <vector>

#include "core/base/spans.h"
#include "gui/base/view_types.h"

namespace midscope {

// A head that stays on the screen in addition to the selected one, with its colour in every view.
struct PinnedHead {
  HeadId head;
  QColor color;
  bool operator==(const PinnedHead&) const = default;
};

// Part of the token axis, in axis coordinates: the first token extends from -0.5 to 0.5.
struct TokenWindow {
  double lower = 0;
  double upper = 0;
  bool operator==(const TokenWindow&) const = default;
};

class Selection : public QObject {
  Q_OBJECT

 public:
  explicit Selection(QObject* parent = nullptr);

  // The maximum number of pinned heads: the number of colours.
  static constexpr size_t kMostPins = 6;

  HeadId head() const { return head_; }
  // Whether a head is selected, by the user or by Suggest.
  bool chosen() const { return chosen_; }
  void Choose(midscope::HeadId head);
  // Sets the head of a session file: the next Suggest selects it instead of its argument.
  void Prefer(midscope::HeadId head);
  // Selects the head unless one is selected; chosen() is then true.
  void Suggest(midscope::HeadId head);
  // Other prompts are shown: the next Suggest replaces the head of the last one. No effect on a
  // head that the user has selected.
  void Reconsider();

  // The head under the pointer of a map; nullopt: none.
  void PreviewHead(std::optional<midscope::HeadId> head);
  // The head to draw: the previewed one if any, else the selected one.
  HeadId shown_head() const { return preview_.value_or(head_); }
  bool previews() const { return preview_ && !(*preview_ == head_); }

  // The pinned heads, first pinned first.
  const std::vector<PinnedHead>& pinned() const { return pinned_; }
  // The pin of the head; nullptr if it is not pinned.
  const PinnedHead* PinOf(midscope::HeadId head) const;
  // Pins the head, or unpins it if it is pinned. Does not pin it if kMostPins heads are pinned.
  void TogglePin(midscope::HeadId head);
  // Replaces all pins; heads beyond kMostPins are ignored.
  void SetPinned(const std::vector<HeadId>& heads);
  // Replaces all pins and their colours by a value that pinned() returned.
  void RestorePins(const std::vector<PinnedHead>& pins);

  // Index of the token under the pointer, else of the locked token; -1: none.
  int64_t token() const { return hovered_token_ >= 0 ? hovered_token_ : locked_token_; }
  int64_t locked_token() const { return locked_token_; }
  // Sets the index of the token under the pointer; -1: none.
  void HoverToken(qint64 token);
  // Locks the token, or releases it if it is the locked one.
  void LockToken(qint64 token);

  // The range of tokens selected by brushing; empty if there is none.
  const TokenSpan& range() const { return range_; }
  // Half-open [begin, end); an empty range removes the selection.
  void SetRange(qint64 begin, qint64 end);

  // Releases the locked token, the range and the preview; Esc calls it.
  void Release();

  Compare compare() const { return compare_; }
  // Sets the comparison of A and B and ends the flicker between them.
  void SetCompare(midscope::Compare compare);
  // Whether A and B are shown alternately in one place, so that differences stand out. When it
  // ends, the previous comparison is shown again.
  bool flickers() const { return flicker_.isActive(); }
  // The comparison, ignoring the flicker: the one shown when the flicker ends.
  Compare lasting_compare() const { return flickers() ? before_flicker_ : compare_; }
  void SetFlicker(bool on);

  // Whether all plots over tokens show the same part of the token axis.
  bool linked() const { return linked_; }
  void SetLinked(bool linked);
  // The visible part of the token axis; nullopt: all tokens.
  const std::optional<TokenWindow>& window() const { return window_; }
  // No effect unless linked().
  void ShowTokens(std::optional<midscope::TokenWindow> window);

 Q_SIGNALS:
  void HeadChanged(midscope::HeadId head);
  // Emitted when shown_head() may have changed.
  void ShownHeadChanged();
  void PinsChanged();
  void TokenChanged(qint64 token);
  void RangeChanged(qint64 begin, qint64 end);
  void CompareChanged(midscope::Compare compare);
  void FlickerChanged(bool on);
  void WindowChanged();

 private:
  QColor FreeColor() const;
  void ShowSettings(Compare compare);

  HeadId head_;
  bool chosen_ = false;
  bool suggested_ = false;  // the head is that of the last Suggest
  std::optional<HeadId> preferred_;
  std::optional<HeadId> preview_;
  std::vector<PinnedHead> pinned_;
  int64_t hovered_token_ = -1;
  int64_t locked_token_ = -1;
  TokenSpan range_;
  Compare compare_ = Compare::kSplit;
  Compare before_flicker_ = Compare::kSplit;
  QTimer flicker_;
  bool linked_ = true;
  std::optional<TokenWindow> window_;
};

// The nearest head in a model of that shape; L0H0 if the model has no heads.
HeadId NearestHead(HeadId head, int64_t layers, int64_t heads);

}  // namespace midscope
