// SPDX-License-Identifier: GPL-3.0-or-later
// Reads samples of a results file on its own thread. A newer choice supersedes a waiting one; a
// reading that has begun still delivers its reply.
#pragma once

#include <QObject>
#include <memory>
#include <vector>

#include "gui/base/newest_request.h"
#include "probes/client/result_files.h"

namespace midscope {

class SampleReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    std::shared_ptr<const RemoteSampleView> view;  // the file that contains the sample
    SampleChoice choice;
    std::vector<Record> records;
    double milliseconds = 0;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit SampleReader(std::shared_ptr<const RemoteSampleView> view);

  const std::shared_ptr<const RemoteSampleView>& view() const { return view_; }
  void Ask(const SampleChoice& choice) { thread_.Ask(choice); }

 Q_SIGNALS:
  // Emitted on the reader's thread.
  void Replied(midscope::SampleReader::ReplyPointer reply);

 private:
  ReplyPointer Read(const SampleChoice& choice) const;

  const std::shared_ptr<const RemoteSampleView> view_;
  NewestRequest<SampleChoice> thread_;  // last member: the thread uses the view
};

}  // namespace midscope
