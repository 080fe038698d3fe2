// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/head_selection.h"

#include <algorithm>
#include <utility>

namespace midscope {

void HeadSelection::Choose(HeadId head) {
  chosen_ = true;
  if (head == head_) return;
  head_ = head;
  Q_EMIT Changed(head_);
}

void HeadSelection::Prefer(HeadId head) {
  chosen_ = false;
  preferred_ = head;
}

void HeadSelection::Suggest(HeadId head) {
  if (chosen_) return;
  Choose(std::exchange(preferred_, std::nullopt).value_or(head));
}

HeadId NearestHead(HeadId head, int64_t layers, int64_t heads) {
  return {std::clamp<int64_t>(head.layer, 0, std::max<int64_t>(layers - 1, 0)),
          std::clamp<int64_t>(head.head, 0, std::max<int64_t>(heads - 1, 0))};
}

}  // namespace midscope
