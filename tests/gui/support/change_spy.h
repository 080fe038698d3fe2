// SPDX-License-Identifier: MIT
// Waiting for, and counting, the changes that a session emits.
#pragma once

#include <QSignalSpy>
#include <algorithm>

#include "gui/session/session.h"

namespace midscope {

class ChangeSpy : public QSignalSpy {
 public:
  explicit ChangeSpy(const Session* session) : QSignalSpy(session, &Session::Changed) {}

  Changes At(qsizetype emission) const { return at(emission).front().value<Changes>(); }
  // The number of emissions that have one of the flags.
  qsizetype Count(Changes flags) const {
    return std::count_if(begin(), end(), [flags](const QVariantList& arguments) {
      return bool(arguments.front().value<Changes>() & flags);
    });
  }
};

}  // namespace midscope
