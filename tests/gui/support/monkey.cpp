// SPDX-License-Identifier: MIT
#include "tests/gui/support/monkey.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QMenu>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <array>

namespace midscope {
namespace {

constexpr int kBeat = 5;  // interval in ms
// Number of beats after which an event loop inside a step is ended.
constexpr int kBeatsOfALoop = 20;
constexpr int kStepsOfADialog = 6;  // number of steps after which a dialog is closed

constexpr std::array kKeys = {
    Qt::Key_Up,     Qt::Key_Down,      Qt::Key_Left,   Qt::Key_Right,     Qt::Key_Tab,
    Qt::Key_Return, Qt::Key_Escape,    Qt::Key_Delete, Qt::Key_Backspace, Qt::Key_Home,
    Qt::Key_End,    Qt::Key_PageDown,  Qt::Key_Space,  Qt::Key_F5,        Qt::Key_F1,
    Qt::Key_Z,      Qt::Key_0,         Qt::Key_7,      Qt::Key_Minus,     Qt::Key_Period,
    Qt::Key_A,      Qt::Key_ParenLeft, Qt::Key_Equal,  Qt::Key_Comma,     Qt::Key_K};

QPoint PointIn(QWidget* widget, int across, int down) {
  return {std::max(widget->width() * across / 1000, 0),
          std::max(widget->height() * down / 1000, 0)};
}

}  // namespace

Monkey::Monkey(QWidget* window, unsigned seed) : window_(window), random_(seed) {
  beat_.setTimerType(Qt::PreciseTimer);
  connect(&beat_, &QTimer::timeout, this, [this] { Beat(); });
  since_.start();
  beat_.start(kBeat);
}

void Monkey::Beat() {
  if (stepping_ && ++beats_of_step_ % kBeatsOfALoop == 0) LeaveLoop();
  const double gap = static_cast<double>(since_.nsecsElapsed()) / 1e6;
  since_.restart();
  gaps_.push_back(gap);
  if (gap <= longest_) return;
  longest_ = gap;
  slowest_ = now_;
}

// A step that has not ended is inside the event loop of a dialog, menu or drag.
void Monkey::LeaveLoop() {
  QWidget* opened = QApplication::activePopupWidget();
  if (!opened) opened = QApplication::activeModalWidget();
  if (opened) {
    opened->close();
  } else if (window_ && window_->windowHandle()) {
    QTest::keyClick(window_->windowHandle(), Qt::Key_Escape);  // ends a drag
  }
}

// The menu, dialog or window that receives the input.
QWidget* Monkey::Top() {
  QWidget* opened = QApplication::activePopupWidget();
  if (!opened) opened = QApplication::activeModalWidget();
  if (opened && ++held_ > kStepsOfADialog) {
    held_ = 0;
    opened->close();
    return nullptr;
  }
  if (opened) return opened;
  held_ = 0;
  const QWidgetList all = QApplication::topLevelWidgets();
  QWidgetList shown;
  for (QWidget* widget : all) {
    if (widget->isVisible() && widget != window_ && widget->isWindow()) shown.push_back(widget);
  }
  if (!shown.empty() && Below(4) == 0) {
    QWidget* widget = shown[Below(static_cast<int>(shown.size()))];
    if (Below(4) == 0) {
      widget->close();
      return nullptr;
    }
    return widget;
  }
  if (!window_->isVisible()) window_->show();
  return window_;
}

// Every point of the window is equally likely.
QWidget* Monkey::Target(QWidget* top) {
  QWidget* child = top->childAt(PointIn(top, Below(1000), Below(1000)));
  return child ? child : top;
}

void Monkey::Click(QWidget* widget) {
  const QPoint at = PointIn(widget, Below(1000), Below(1000));
  const Qt::MouseButton button = Below(12) == 0 ? Qt::RightButton : Qt::LeftButton;
  const Qt::KeyboardModifiers modifiers = Below(8) == 0   ? Qt::ControlModifier
                                          : Below(8) == 0 ? Qt::ShiftModifier
                                                          : Qt::NoModifier;
  if (Below(10) == 0) {
    QTest::mouseDClick(widget, button, modifiers, at);
  } else {
    QTest::mouseClick(widget, button, modifiers, at);
  }
}

void Monkey::Drag(QWidget* widget) {
  QTest::mousePress(widget, Qt::LeftButton, Below(5) == 0 ? Qt::ShiftModifier : Qt::NoModifier,
                    PointIn(widget, Below(1000), Below(1000)));
  const QPointer<QWidget> held(widget);
  for (int i = 0; i < 5 && held; ++i) {
    QTest::mouseMove(widget, PointIn(widget, Below(1000), Below(1000)));
    QApplication::processEvents();
  }
  if (held) {
    QTest::mouseRelease(widget, Qt::LeftButton, Qt::NoModifier,
                        PointIn(widget, Below(1000), Below(1000)));
  }
}

void Monkey::Turn(QWidget* widget) {
  const QPointF at = PointIn(widget, Below(1000), Below(1000));
  QWheelEvent event(at, widget->mapToGlobal(at), QPoint(), QPoint(0, Below(2) == 0 ? 120 : -120),
                    Qt::NoButton, Below(6) == 0 ? Qt::ControlModifier : Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(widget, &event);
}

void Monkey::Type(QWidget* widget) {
  QWidget* focused = QApplication::focusWidget();
  QWidget* into = focused && Below(2) == 0 ? focused : widget;
  const Qt::Key key = kKeys[static_cast<size_t>(Below(static_cast<int>(kKeys.size())))];
  const bool command = Below(6) == 0 && key != Qt::Key_Tab;
  QTest::keyClick(into, key, command ? Qt::ControlModifier : Qt::NoModifier);
}

void Monkey::Arrange(QWidget* widget) {
  if (widget == window_) widget->resize(1024 + Below(600), 700 + Below(300));
}

void Monkey::Step() {
  stepping_ = true;
  beats_of_step_ = 0;
  Input();
  stepping_ = false;
  QApplication::processEvents(QEventLoop::AllEvents, kBeat);
  // A menu command may have closed the window.
  if (window_ && !window_->isVisible()) window_->show();
}

void Monkey::Input() {
  QWidget* top = Top();
  if (top) {
    QWidget* widget = Target(top);
    now_ =
        std::string(widget->metaObject()->className()) + " " + widget->objectName().toStdString();
    struct Kind {
      const char* name;
      int weight;
      void (Monkey::*run)(QWidget*);
      bool of_window;
    };
    constexpr std::array<Kind, 5> kKinds = {{{"click", 55, &Monkey::Click, false},
                                             {"drag", 14, &Monkey::Drag, false},
                                             {"wheel", 12, &Monkey::Turn, false},
                                             {"key", 18, &Monkey::Type, false},
                                             {"size", 1, &Monkey::Arrange, true}}};
    int left = Below(100);
    for (const Kind& kind : kKinds) {
      left -= kind.weight;
      if (left >= 0) continue;
      ++inputs_[kind.name];
      (this->*kind.run)(kind.of_window ? top : widget);
      break;
    }
  }
}

}  // namespace midscope
