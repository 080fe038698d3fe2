// SPDX-License-Identifier: GPL-3.0-or-later
// Makes records of position ids and of rotary positions on a thread of its own. A newer request
// supersedes a waiting one and ends the one that runs.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "core/positions/position_sampler.h"
#include "gui/base/newest_request.h"
#include "probes/measure/builtin/learned_positions.h"
#include "probes/measure/builtin/rope_periods.h"

namespace midscope {

struct PositionsQuestion {
  std::string sampler = "cream";
  PositionRequest request;
  OptionSet options{{}};  // of the sampler's parameters
  int64_t samples = 100;  // of which the coverage is
  int64_t drawn = 5;      // the first samples, whose ids are kept
  RopeQuestion rope;
  std::shared_ptr<const PositionTable> learned;  // null: none
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
  // Emitted on the maker's thread; not for a request that was superseded. A table of learned
  // positions that is new takes seconds: a reply without its record comes first, then one with it.
  void Replied(midscope::PositionsMaker::ReplyPointer reply);

 private:
  struct Request {
    PositionsQuestion question;
    std::shared_ptr<std::atomic<bool>> cancel;
  };
  void Make(const Request& request);
  // Emits `reply` with the record of the question's table.
  void AddLearned(const Request& request, const Reply& reply);

  std::shared_ptr<std::atomic<bool>> cancel_;  // of the newest request
  // The newest table whose record was made. Used by the thread alone.
  std::shared_ptr<const PositionTable> table_;
  std::optional<Record> of_table_;
  NewestRequest<Request> thread_;
};

}  // namespace midscope
