// SPDX-License-Identifier: MIT
// Clicks, drags, turns wheels and types at random in a window and in what it opens, the same for a
// seed as far as the program's own timing lets it.
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
// Dialogs and menus that a step opens are closed again after some more steps. Commands that end the
// program or leave it (quit, files outside) do no harm: the window is shown again, and what is
// typed into dialogs of files stays in the working folder.
class Monkey : public QObject {
 public:
  Monkey(QWidget* window, unsigned seed);

  // One random input, and what follows from it, without waiting for what runs beside.
  void Step();

  // Milliseconds between two turns of the window's loop of events, in the order in which they came.
  const std::vector<double>& gaps() const { return gaps_; }
  // The class of the widget that had the input when the longest gap came.
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
  int held_ = 0;  // steps that a dialog or menu has been open
  std::map<std::string, int> inputs_;
};

}  // namespace midscope
