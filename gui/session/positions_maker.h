// SPDX-License-Identifier: GPL-3.0-or-later
// Computes records of position ids and of rotary positions on its own thread. A newer request
// supersedes a waiting one and cancels the running one.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/positions/position_sampler.h"
#include "gui/base/newest_request.h"
#include "probes/measure/builtin/rope_periods.h"

namespace midscope {

struct PositionsQuestion {
  std::string sampler = "cream";
  PositionRequest request;
  OptionSet options{{}};  // parameters of the sampler
  int64_t samples = 100;  // samples that the coverage counts
  int64_t drawn = 5;      // number of first samples whose ids are recorded
  RopeQuestion rope;
  std::string learned_of;  // the model with embeddings of positions; "": none
  // Returns the record of that model's embeddings.
  std::function<Record(const JobContext&)> learned = {};
};

class PositionsMaker : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    std::vector<Record> records;  // positions, position_coverage, rope; learned_positions
    QString failure;              // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  PositionsMaker();
  ~PositionsMaker() override;

  void Ask(const PositionsQuestion& question);

 Q_SIGNALS:
  // Emitted on the maker's thread; not emitted for a superseded request. Learned positions of
  // a new model take seconds: the first reply omits its record, the second includes it.
  void Replied(midscope::PositionsMaker::ReplyPointer reply);

 private:
  struct Request {
    PositionsQuestion question;
    std::shared_ptr<std::atomic<bool>> cancel;
  };
  void Make(const Request& request);
  // Emits `reply` with the record of the model's embeddings of positions added.
  void AddLearned(const Request& request, const Reply& reply);

  std::shared_ptr<std::atomic<bool>> cancel_;  // cancel flag of the newest request
  // The newest model whose record was made. Accessed only on the thread.
  std::string learned_of_;
  std::optional<Record> learned_;
  NewestRequest<Request> thread_;
};

}  // namespace midscope
