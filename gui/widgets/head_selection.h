// SPDX-License-Identifier: GPL-3.0-or-later
// The head that all panels show. It is unchanged while a panel has no data and where a model has
// fewer heads: panels clamp what they draw, never the selection.
#pragma once

#include <QObject>
#include <optional>

#include "gui/base/view_types.h"

namespace midscope {

class HeadSelection : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  HeadId head() const { return head_; }
  // Whether the user has selected it; otherwise it is the head that attends most to the gold.
  bool chosen() const { return chosen_; }
  void Choose(midscope::HeadId head);
  // A session file's head: the next Suggest selects it instead of its argument.
  void Prefer(midscope::HeadId head);
  // Selects the head unless the user has selected one.
  void Suggest(midscope::HeadId head);

 Q_SIGNALS:
  void Changed(midscope::HeadId head);

 private:
  HeadId head_;
  bool chosen_ = false;
  std::optional<HeadId> preferred_;
};

// The nearest head of a model of that shape; L0H0 where it has none.
HeadId NearestHead(HeadId head, int64_t layers, int64_t heads);

}  // namespace midscope
