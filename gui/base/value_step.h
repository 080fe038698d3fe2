// SPDX-License-Identifier: GPL-3.0-or-later
// An undo step from one value to another.
#pragma once

#include <QString>
#include <QUndoCommand>
#include <functional>
#include <utility>

namespace midscope {

template <typename Value>
class ValueStep : public QUndoCommand {
 public:
  // `show` makes a value the current one. `text`: the step's name in the Edit menu.
  ValueStep(const QString& text, Value before, Value after, std::function<void(const Value&)> show)
      : QUndoCommand(text),
        before_(std::move(before)),
        after_(std::move(after)),
        show_(std::move(show)) {}
  void redo() override { show_(after_); }
  void undo() override { show_(before_); }

 private:
  const Value before_;
  const Value after_;
  const std::function<void(const Value&)> show_;
};

}  // namespace midscope
