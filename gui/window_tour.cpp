// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of the tour of the window.
#include <QDockWidget>

#include "gui/help/tour.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/outcome/answer_strip.h"
#include "gui/window_actions.h"

namespace midscope {

Tour* MakeTour(MainWindow* window) {
  const auto panel = [window](const char* mode, const char* id) {
    return [window, mode, id]() -> QWidget* {
      window->docks()->SwitchTo(*FindLayout(QLatin1String(mode)));
      window->docks()->Show(QLatin1String(id));
      return window->docks()->Find(QLatin1String(id));
    };
  };
  const auto strip = [window]() -> QWidget* {
    window->docks()->SwitchTo(*FindLayout(QStringLiteral("explore")));
    return window->answers();
  };
  return new Tour(
      {{QObject::tr("What is asked"),
        QObject::tr("A list of lines, and a question about one of them. The model's answer and the "
                    "probability of the right one stand here: under A, the model as it was "
                    "trained, and under B, the model with your change."),
        strip},
       {QObject::tr("The place matters"),
        QObject::tr("The same question with the answer's line at five places: lower is better. A "
                    "model without position bias has a flat line. Click a place to see its "
                    "prompt."),
        panel("explore", "outcome")},
       {QObject::tr("A head"),
        QObject::tr("One cell per attention head. Choose <i>attention on gold</i>: bright heads "
                    "look at the line with the answer. Click one; the text shows where it looks."),
        panel("explore", "head-map")},
       {QObject::tr("The slider"),
        QObject::tr("Move the factor: this hidden channel carries the position, and every panel "
                    "follows. <i>Try</i> has other changes, such as a position ratio per head."),
        panel("explore", "settings")},
       {QObject::tr("Over samples"),
        QObject::tr("One prompt is an anecdote. Here the same comparison runs over many samples, "
                    "with intervals and tests, and its results are saved."),
        panel("samples", "sweep")},
       {QObject::tr("Your own text"),
        QObject::tr("Paste a text, mark the passage with the answer, and let it move through the "
                    "text. <i>Ctrl+K</i> finds everything else."),
        panel("text", "prompt")}},
      window);
}

}  // namespace midscope
