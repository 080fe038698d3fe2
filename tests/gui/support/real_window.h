// SPDX-License-Identifier: MIT
// The complete main window on the engine process, for a test class that derives from it.
#pragma once

#include <memory>

#include "gui/main_window.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/session.h"
#include "tests/gui/support/test_engine.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class RealWindow {
 protected:
  // Means over samples are off; capture runs follow what-ifs without delay.
  void Make(const QSize& size = {1400, 900}) {
    window_ = std::make_unique<MainWindow>(test::TestEngine());
    session_ = window_->session();
    session_->SetSamples(0);
    session_->SetReleaseDelay(0);
    window_->resize(size);
    window_->show();
  }
  // Shows a text of words that tiny models have, unlike tasks.
  void SetOwnText() {
    PromptRequest own;
    own.task.clear();
    own.text = "Alice bought: a pen. Bob bought: a lamp. Alice bought: a";
    own.gold_begin = 0;
    own.gold_end = 20;
    own.answer = " pen";
    window_->prompt_panel()->SetPrompt(own);
  }
  bool Settled() const { return IsSettled(*session_); }
  template <typename Widget>
  Widget* Find(const char* name) {
    return window_->findChild<Widget*>(QString::fromLatin1(name));
  }
  QString Errors() { return window_->errors()->messages().join(QLatin1Char('\n')); }

  std::unique_ptr<MainWindow> window_;
  Session* session_ = nullptr;
};

}  // namespace midscope
