// SPDX-License-Identifier: GPL-3.0-or-later
// Reads samples of a file of results on a thread of its own. The newest choice wins: one that waits
// is replaced, and what was asked before it comes back only where its read had begun.
#pragma once

#include <QObject>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/sample_view.h"

namespace midscope {

class SampleReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    std::shared_ptr<const SampleView> view;  // whose sample it is
    SampleChoice choice;
    std::vector<Record> records;
    double milliseconds = 0;
    QString failure;  // empty: there is none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit SampleReader(std::shared_ptr<const SampleView> view);
  // Waits for the read under way.
  ~SampleReader() override;

  const std::shared_ptr<const SampleView>& view() const { return view_; }
  void Ask(const SampleChoice& choice);

 Q_SIGNALS:
  // Emitted on the reader's thread.
  void Replied(midscope::SampleReader::ReplyPointer reply);

 private:
  void Loop();
  ReplyPointer Read(const SampleChoice& choice) const;

  const std::shared_ptr<const SampleView> view_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<SampleChoice> wanted_;  // guarded by mutex_
  bool quit_ = false;                   // guarded by mutex_
  std::thread thread_;                  // last: it uses all of the above
};

}  // namespace midscope
