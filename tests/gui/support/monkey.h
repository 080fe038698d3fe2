// SPDX-License-Identifier: MIT
// Clicks, drags, turns the wheel and types at random in a window and in the windows that it opens.
// The inputs are reproducible from the seed, as far as the program's timing permits.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace midscope {

// Example:
//
//   Monkey monkey(&window, 7);
//   for (int i = 0; i < 500; ++i) monkey.Step();
//
// Dialogs and menus that a step opens are closed after a few more steps. Commands that close the
// window or leave the program (quit, external files) are harmless: the window is shown again, and
// paths typed into file dialogs stay in the working folder.
class Monkey : public QObject {
 public:
  Monkey(QWidget* window, unsigned seed);

  // Makes one random input and processes the events that follow, without waiting for background
  // work.
  void Step();

  // Milliseconds between successive turns of the event loop, in order.
  const std::vector<double>& gaps() const { return gaps_; }
  // The class of the widget that received the input before the longest gap.
  const std::string& slowest() const { return slowest_; }
  const std::map<std::string, int>& inputs() const { return inputs_; }

 private:
  int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  QWidget* Top();
  QWidget* Target(QWidget* top);
  void Click(QWidget* widget);
  void Drag(QWidget* widget);
  void Turn(QWidget* widget);
  void Type(QWidget* widget);
  void Arrange(QWidget* widget);
  void Input();
  void Beat();
  void LeaveLoop();

  QPointer<QWidget> window_;
  std::mt19937 random_;
  QTimer beat_;
  QElapsedTimer since_;
  std::vector<double> gaps_;
  double longest_ = 0;
  std::string slowest_;
  std::string now_;
  bool stepping_ = false;
  int beats_of_step_ = 0;
  int held_ = 0;  // steps since a dialog or menu was opened
  std::map<std::string, int> inputs_;
};

}  // namespace midscope
