// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/positions_maker.h"

#include <utility>

#include "core/base/job.h"
#include "probes/measure/builtin/position_coverage.h"

namespace midscope {

PositionsMaker::PositionsMaker()
    : cancel_(std::make_shared<std::atomic<bool>>(false)),
      thread_([this](const Request& request) { Make(request); }) {
  qRegisterMetaType<ReplyPointer>("midscope::PositionsMaker::ReplyPointer");
}

PositionsMaker::~PositionsMaker() { *cancel_ = true; }

void PositionsMaker::Ask(const PositionsQuestion& question) {
  *cancel_ = true;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  thread_.Ask({question, cancel_});
}

void PositionsMaker::Make(const Request& request) {
  const PositionsQuestion& question = request.question;
  JobContext context;
  context.cancel = request.cancel.get();
  auto reply = std::make_shared<Reply>();
  const JobOutcome outcome = RunJob(context, [&](const JobContext& job) {
    const PositionSampler& sampler = *FindPositionSampler(question.sampler);
    const SampledPositions positions =
        MakeSampledPositions(sampler, question.request, question.options);
    reply->records.push_back(PositionSamples(positions, 0, question.drawn, job));
    reply->records.push_back(PositionCoverage({positions}, question.samples, job));
    reply->records.push_back(RopePeriods(question.rope));
  });
  if (outcome.end == JobEnd::kCancelled) return;
  if (outcome.end == JobEnd::kFailed) reply->failure = QString::fromStdString(outcome.why);
  const bool learned = !question.learned_of.empty();
  const bool known = learned && question.learned_of == learned_of_;
  if (known) reply->records.push_back(*learned_);
  const Reply made = *reply;
  Q_EMIT Replied(std::move(reply));
  if (learned && !known && made.failure.isEmpty()) AddLearned(request, made);
}

void PositionsMaker::AddLearned(const Request& request, const Reply& reply) {
  JobContext context;
  context.cancel = request.cancel.get();
  auto whole = std::make_shared<Reply>(reply);
  const JobOutcome outcome = RunJob(context, [&](const JobContext& job) {
    learned_ = request.question.learned(job);
    learned_of_ = request.question.learned_of;
    whole->records.push_back(*learned_);
  });
  if (outcome.end == JobEnd::kCancelled) return;
  if (outcome.end == JobEnd::kFailed) whole->failure = QString::fromStdString(outcome.why);
  Q_EMIT Replied(std::move(whole));
}

}  // namespace midscope
