// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/selection.h"

#include <algorithm>
#include <array>
#include <utility>

namespace midscope {
namespace {

constexpr int kFlicker = 700;  // milliseconds per picture; slow enough not to disturb

// Those of Okabe and Ito's eight colours (distinguishable with colour blindness) that are far from
// the colours of A, B and gold, then two of Paul Tol's.
const std::array<QColor, Selection::kMostPins>& PinColors() {
  static const std::array<QColor, Selection::kMostPins> colors = {
      QColor(0x00, 0x9e, 0x73), QColor(0xcc, 0x79, 0xa7), QColor(0x88, 0x55, 0xd0),
      QColor(0xb2, 0x22, 0x22), QColor(0x55, 0xc0, 0xd8), QColor(0x99, 0x99, 0x33)};
  return colors;
}

}  // namespace

Selection::Selection(QObject* parent) : QObject(parent) {
  flicker_.setInterval(kFlicker);
  connect(&flicker_, &QTimer::timeout, this,
          [this] { ShowSettings(compare_ == Compare::kA ? Compare::kB : Compare::kA); });
}

void Selection::Choose(HeadId head) {
  chosen_ = true;
  suggested_ = false;
  const bool previewed = previews();
  preview_.reset();
  if (head == head_) {
    if (previewed) Q_EMIT ShownHeadChanged();
    return;
  }
  head_ = head;
  Q_EMIT HeadChanged(head_);
  Q_EMIT ShownHeadChanged();
}

void Selection::Prefer(HeadId head) {
  chosen_ = false;
  preferred_ = head;
}

void Selection::Suggest(HeadId head) {
  if (chosen_) return;
  const bool preferred = preferred_.has_value();
  Choose(std::exchange(preferred_, std::nullopt).value_or(head));
  suggested_ = !preferred;
}

void Selection::Reconsider() {
  if (suggested_) chosen_ = false;
}

void Selection::PreviewHead(std::optional<HeadId> head) {
  if (head == preview_) return;
  const HeadId before = shown_head();
  preview_ = head;
  if (!(shown_head() == before)) Q_EMIT ShownHeadChanged();
}

const PinnedHead* Selection::PinOf(HeadId head) const {
  const auto found = std::find_if(pinned_.begin(), pinned_.end(),
                                  [&head](const PinnedHead& pin) { return pin.head == head; });
  return found == pinned_.end() ? nullptr : &*found;
}

QColor Selection::FreeColor() const {
  for (const QColor& color : PinColors()) {
    const bool used = std::any_of(pinned_.begin(), pinned_.end(),
                                  [&color](const PinnedHead& pin) { return pin.color == color; });
    if (!used) return color;
  }
  return {};
}

void Selection::TogglePin(HeadId head) {
  if (const PinnedHead* pin = PinOf(head)) {
    pinned_.erase(pinned_.begin() + (pin - pinned_.data()));
  } else if (pinned_.size() < kMostPins) {
    pinned_.push_back({head, FreeColor()});
  } else {
    return;
  }
  Q_EMIT PinsChanged();
}

void Selection::SetPinned(const std::vector<HeadId>& heads) {
  std::vector<PinnedHead> before = std::exchange(pinned_, {});
  for (const HeadId& head : heads) {
    if (pinned_.size() < kMostPins && !PinOf(head)) pinned_.push_back({head, FreeColor()});
  }
  if (pinned_ != before) Q_EMIT PinsChanged();
}

void Selection::RestorePins(const std::vector<PinnedHead>& pins) {
  if (pins == pinned_) return;
  pinned_ = pins;
  Q_EMIT PinsChanged();
}

void Selection::HoverToken(qint64 token) {
  if (token == hovered_token_) return;
  const int64_t before = this->token();
  hovered_token_ = token;
  if (this->token() != before) Q_EMIT TokenChanged(this->token());
}

void Selection::LockToken(qint64 token) {
  locked_token_ = token == locked_token_ ? -1 : token;
  Q_EMIT TokenChanged(this->token());
}

void Selection::SetRange(qint64 begin, qint64 end) {
  TokenSpan range;
  if (end > begin) range = {"", std::max<int64_t>(begin, 0), end};
  if (range == range_) return;
  range_ = range;
  Q_EMIT RangeChanged(range_.begin, range_.end);
}

void Selection::Release() {
  PreviewHead(std::nullopt);
  hovered_token_ = -1;
  if (std::exchange(locked_token_, -1) >= 0) Q_EMIT TokenChanged(-1);
  SetRange(0, 0);
}

void Selection::ShowSettings(Compare compare) {
  if (compare == compare_) return;
  compare_ = compare;
  Q_EMIT CompareChanged(compare_);
}

void Selection::SetCompare(Compare compare) {
  if (flicker_.isActive()) {
    flicker_.stop();
    Q_EMIT FlickerChanged(false);
  }
  ShowSettings(compare);
}

void Selection::SetFlicker(bool on) {
  if (on == flickers()) return;
  if (!on) {
    SetCompare(before_flicker_);
    return;
  }
  before_flicker_ = compare_;
  flicker_.start();
  ShowSettings(compare_ == Compare::kB ? Compare::kA : Compare::kB);
  Q_EMIT FlickerChanged(true);
}

void Selection::SetLinked(bool linked) {
  if (linked == linked_) return;
  linked_ = linked;
  window_.reset();
  Q_EMIT WindowChanged();
}

void Selection::ShowTokens(std::optional<TokenWindow> window) {
  if (!linked_ || window == window_) return;
  window_ = window;
  Q_EMIT WindowChanged();
}

HeadId NearestHead(HeadId head, int64_t layers, int64_t heads) {
  return {std::clamp<int64_t>(head.layer, 0, std::max<int64_t>(layers - 1, 0)),
          std::clamp<int64_t>(head.head, 0, std::max<int64_t>(heads - 1, 0))};
}

}  // namespace midscope
