// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/action_script.h"

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "gui/actions/action_registry.h"
#include "gui/file_menu.h"
#include "gui/main_window.h"
#include "gui/session/session.h"
#include "gui/widgets/error_bar.h"

namespace midscope {
namespace {

constexpr int kTurn = 15;  // milliseconds between two checks of the session
// A change requests its results in the same or the next turn of the event loop.
constexpr int kRestedTurns = 3;

}  // namespace

ActionScript::ActionScript(MainWindow* window, const QStringList& lines)
    : QObject(window), window_(window), lines_(lines) {
  timer_.setInterval(kTurn);
  connect(&timer_, &QTimer::timeout, this, &ActionScript::Next);
}

void ActionScript::Start() { timer_.start(); }

bool ActionScript::AtRest() const {
  const Session& session = *window_->session();
  const bool shown = session.shows_file() || session.record(Side::kA, kOutcomeRecord) ||
                     (session.ready() && session.settled(Side::kA));
  return shown && !session.has_pending_request() && !window_->files()->opening() &&
         !window_->files()->writes_report();
}

void ActionScript::Next() {
  const QStringList errors = window_->errors()->messages();
  if (!errors.isEmpty()) {
    timer_.stop();
    Q_EMIT Failed(errors.last(), 1);
    return;
  }
  rested_ = AtRest() ? rested_ + 1 : 0;
  if (rested_ < kRestedTurns) return;
  rested_ = 0;
  if (lines_.isEmpty()) {
    timer_.stop();
    Q_EMIT Finished();
    return;
  }
  const QString line = lines_.takeFirst();
  try {
    window_->actions_list()->Do(line);
  } catch (const Error& error) {
    timer_.stop();
    Q_EMIT Failed(QString::fromUtf8(error.what()), error.kind() == ErrorKind::kUsage ? 2 : 1);
  }
}

}  // namespace midscope
