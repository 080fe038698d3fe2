// SPDX-License-Identifier: MIT
#include "core/base/job.h"

#include <exception>
#include <new>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"

namespace midscope {

void JobContext::ThrowIfCancelled() const {
  if (cancelled()) throw Cancelled();
}

JobOutcome RunJob(const JobContext& context,
                  const std::function<void(const JobContext&)>& work) noexcept {
  JobOutcome outcome;
  outcome.end = JobEnd::kFailed;
  try {
    try {
      work(context);
      outcome.end = JobEnd::kDone;
    } catch (const Cancelled&) {
      outcome.end = JobEnd::kCancelled;
    } catch (const Error& error) {
      outcome.why = error.what();
      outcome.problem = error.problem();
    } catch (const std::bad_alloc&) {
      outcome.problem = "memory: not enough for this run" + MemoryLimitText();
      outcome.why = outcome.problem + ". Use a shorter prompt or fewer captures";
    } catch (const std::filesystem::filesystem_error& error) {
      outcome.why = FileSystemProblem(error);
      outcome.problem = outcome.why;
    } catch (const std::exception& error) {
      outcome.problem = BugProblem(error.what());
      outcome.why = BugMessage(error.what());
    } catch (...) {
      outcome.problem = BugProblem("an exception of unknown type");
      outcome.why = BugMessage("an exception of unknown type");
    }
  } catch (...) {  // no memory even for the message: only the outcome shows the failure
  }
  return outcome;
}

}  // namespace midscope
