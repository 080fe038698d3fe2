// SPDX-License-Identifier: MIT
// Sends random input to the complete window with the real engine and the embedded model, for
// minutes.
//
//   QT_QPA_PLATFORM=offscreen window_monkey [SECONDS [SEED [DTYPE]]]
//
// Runs in a separate folder, because dialogs save files. Prints resident memory every half minute,
// and at the end one JSON object: inputs by kind; milliseconds between turns of the window's event
// loop (median, 99th and 99.9th percentile, longest, and the widget of the longest); memory after
// two minutes and at the end. A crash ends it, and so does an event loop that is blocked for a
// minute; if it is blocked for a second, the stack is printed.

#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/compute/process_start.h"
#include "gui/main_window.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/session.h"
#include "gui/widgets/parameter_form.h"
#include "tests/gui/support/monkey.h"
#include "tests/gui/support/test_engine.h"

namespace {

constexpr unsigned kLongestTurn = 60;  // s
constexpr double kWarmUp = 120;        // seconds after which memory should stay constant

double ResidentMegabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// Heap memory in use; the rest of the resident memory is caches, code and fragmentation.
double UsedMegabytes() {
  const auto heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd) / 1e6;
}

void PrintCalls(int /*signal*/) {
  std::array<void*, 48> calls{};
  const int count = backtrace(calls.data(), static_cast<int>(calls.size()));
  backtrace_symbols_fd(calls.data(), count, STDERR_FILENO);
}

// Prints the stack of the thread that created it if Turned has not been called for a second.
class Watch {
 public:
  Watch() : watched_(pthread_self()), thread_([this] { Run(); }) {
    std::signal(SIGUSR1, PrintCalls);
    PrintCalls(0);  // loads the libraries that it needs
  }
  ~Watch() {
    ends_ = true;
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  void Turned() { ++turns_; }

 private:
  void Run() {
    int64_t before = -1;
    while (!ends_) {
      for (int i = 0; i < 10 && !ends_; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const int64_t now = turns_;
      if (now == before) {
        std::fprintf(stderr, "no turn for a second, in:\n");
        pthread_kill(watched_, SIGUSR1);
      }
      before = now;
    }
  }

  pthread_t watched_;
  std::atomic<int64_t> turns_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

double Share(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void Report(const midscope::Monkey& monkey, double warm, double last) {
  std::printf("{\"inputs\": {");
  const char* separator = "";
  for (const auto& [kind, count] : monkey.inputs()) {
    std::printf("%s\"%s\": %d", separator, kind.c_str(), count);
    separator = ", ";
  }
  std::printf(
      "}, \"turn_ms\": {\"median\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"longest\": %.1f, "
      "\"of\": \"%s\"}, \"megabytes\": {\"after_2_minutes\": %.0f, \"at_the_end\": %.0f}}\n",
      Share(monkey.gaps(), 0.5), Share(monkey.gaps(), 0.99), Share(monkey.gaps(), 0.999),
      Share(monkey.gaps(), 1), monkey.slowest().c_str(), warm, last);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  const QApplication app(argc, argv);
  QApplication::setQuitOnLastWindowClosed(false);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 600;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  const QTemporaryDir folder;
  QDir::setCurrent(folder.path());
  midscope::MainWindow window(midscope::test::TestEngine());
  window.model()->options()->SetText("dtype", argc > 3 ? argv[3] : "auto");
  window.prompt_panel()->SetTask(QStringLiteral("list:lines=12"));
  window.resize(1400, 900);
  window.show();
  window.OpenPath(QStringLiteral("embedded"));
  midscope::Monkey monkey(&window, seed);
  Watch watch;
  QTimer beat;
  QObject::connect(&beat, &QTimer::timeout, &beat, [&watch] { watch.Turned(); });
  beat.start(100);
  QElapsedTimer clock;
  clock.start();
  double warm = 0;
  double told = 0;
  while (static_cast<double>(clock.elapsed()) / 1e3 < seconds) {
    alarm(kLongestTurn);
    monkey.Step();
    const double now = static_cast<double>(clock.elapsed()) / 1e3;
    if (warm == 0 && now >= kWarmUp) warm = ResidentMegabytes();
    if (now < told + 30) continue;
    told = now;
    std::fprintf(stderr, "%4.0f s  %6.0f MB, %6.0f MB of the heap in use\n", now,
                 ResidentMegabytes(), UsedMegabytes());
  }
  Report(monkey, warm, ResidentMegabytes());
  return 0;
}
