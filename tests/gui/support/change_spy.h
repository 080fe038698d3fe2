// SPDX-License-Identifier: MIT
// Waits for and counts the changes that a session emits.
#pragma once

#include <QSignalSpy>
#include <algorithm>

#include "gui/session/session.h"

namespace midscope {

class ChangeSpy : public QSignalSpy {
 public:
  explicit ChangeSpy(const Session* session) : QSignalSpy(session, &Session::Changed) {}

  Changes At(qsizetype emission) const { return at(emission).front().value<Changes>(); }
  // Number of emissions with at least one of the flags.
  qsizetype Count(Changes flags) const {
    return std::count_if(begin(), end(), [flags](const QVariantList& arguments) {
      return bool(arguments.front().value<Changes>() & flags);
    });
  }
};

}  // namespace midscope
