// SPDX-License-Identifier: GPL-3.0-or-later
// The head that all panels show. It is kept while a panel has nothing to draw, and where a model
// has fewer heads: panels clamp what they draw, never the selection.
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
  // Whether somebody has chosen it; until then it is the head that attends most to the gold.
  bool chosen() const { return chosen_; }
  void Choose(midscope::HeadId head);
  // What Suggest takes instead of its argument, once: a session file's head.
  void Prefer(midscope::HeadId head);
  // Chosen where nobody has chosen yet.
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
