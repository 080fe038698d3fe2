// SPDX-License-Identifier: MIT
// The complete main window on a planted engine.
#pragma once

#include <QSignalSpy>
#include <memory>

#include "gui/file_menu.h"
#include "gui/main_window.h"
#include "gui/session/session.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/spy_until.h"

namespace midscope {

// Whether the capture runs of both sides are done and no request is pending.
inline bool IsSettled(const Session& session) {
  return session.settled(Side::kA) && (!session.differs() || session.settled(Side::kB)) &&
         !session.has_pending_request();
}

// Means over samples are off; capture runs follow what-ifs without delay.
template <typename PlantedEngine = FakeEngine>
struct WindowRig {
  std::shared_ptr<FakeControl> control = std::make_shared<FakeControl>();
  MainWindow window{std::make_unique<PlantedEngine>(control)};
  Session* session = window.session();
  QSignalSpy stopped{session, &Session::Stopped};

  WindowRig() {
    session->SetReleaseDelay(0);
    session->SetSamples(0);
  }
  void Show() {
    window.resize(1400, 900);
    window.show();
  }
  // Waits until the session is settled.
  bool Settle() {
    return SpyUntil(stopped, [this] { return IsSettled(*session); });
  }
  bool OpenModel(const char* model = "embedded") {
    window.OpenModel(QString::fromLatin1(model));
    return Settle();
  }
  // Opens a results file and waits for it. Returns whether it is on the screen without an error.
  bool OpenResults(const QString& path) {
    QSignalSpy opened(window.files(), &FileMenu::ResultsOpened);
    window.OpenPath(path);
    return SpyUntil(opened, [&] { return !opened.isEmpty(); }) &&
           window.errors()->messages().isEmpty();
  }
  template <typename Widget>
  Widget* Find(const char* name) {
    return window.findChild<Widget*>(QString::fromLatin1(name));
  }
};

}  // namespace midscope
