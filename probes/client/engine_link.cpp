// SPDX-License-Identifier: MIT
#include "probes/client/engine_link.h"

#include <iterator>
#include <utility>
#include <vector>

#include "probes/client/engine_process.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/message.h"

namespace midscope {
namespace {

constexpr int kWaitMilliseconds = 20;

[[noreturn]] void Throw(const Message& error) {
  const auto text = [&](const char* key) { return error.value(key, std::string()); };
  if (error.value("cancelled", false)) throw Cancelled();
  if (error.contains("device_lost")) {
    throw DeviceError(error.value("device_lost", false), text("thing"), text("reason"),
                      text("remedy"));
  }
  throw Error(error.value("usage", false) ? ErrorKind::kUsage : ErrorKind::kFailure, text("thing"),
              text("reason"), text("remedy"));
}

// A request in flight; further messages about it are discarded when this object is destroyed.
class Request {
 public:
  Request(EngineProcess& process, const std::string& method, const Message& params)
      : process_(process), number_(process.Send(method, params)) {}
  ~Request() { process_.Forget(number_); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Message Result(const JobContext& context, const EngineLink::OnPartial& on_partial) {
    bool cancelled = false;
    while (true) {
      if (context.cancelled() && !cancelled) {
        process_.Cancel(number_);
        cancelled = true;
      }
      Message message = process_.Next(number_, kWaitMilliseconds);
      if (message.is_null()) continue;
      if (message.contains("result")) return std::move(message["result"]);
      if (message.contains("error")) Throw(message["error"]);
      try {
        Report(message, context, on_partial);
      } catch (const nlohmann::json::exception& error) {
        throw Failure("engine", std::string("it sent a damaged notice: ") + error.what());
      }
    }
  }

 private:
  static void Report(const Message& message, const JobContext& context,
                     const EngineLink::OnPartial& on_partial) {
    if (message.contains("progress")) {
      const Message& progress = message["progress"];
      context.Report({progress.value("stage", ""), progress.value("done", int64_t{0}),
                      progress.value("total", int64_t{0}), progress.value("unit", "")});
    } else if (message.contains("log")) {
      const std::string text = message.value("log", "");
      if (message.value("warning", false)) {
        context.Warn(text);
      } else {
        context.Log(text);
      }
    } else if (message.contains("partial") && on_partial) {
      on_partial(message["partial"]);
    }
  }

  EngineProcess& process_;
  const int64_t number_;
};

}  // namespace

EngineLink::EngineLink(EngineCommand command) : command_(std::move(command)) {}

EngineLink::~EngineLink() = default;

std::shared_ptr<EngineProcess> EngineLink::Running() {
  const std::lock_guard starting(start_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (running_ && !running_->has_ended()) return running_;
  }
  auto process = std::make_shared<EngineProcess>(command_.words);
  const std::lock_guard lock(mutex_);
  ++started_;
  running_ = process;
  return process;
}

Message EngineLink::Call(const std::string& method, const Message& params,
                         const JobContext& context, const OnPartial& on_partial, int64_t process) {
  if (process != 0 && process != this->process()) {
    throw EngineEnded("it has ended, and its model with it");
  }
  const std::shared_ptr<EngineProcess> running = Running();
  return Request(*running, method, params).Result(context, on_partial);
}

std::vector<Record> EngineLink::Records(const Message& messages) {
  return ReadRecords(
      messages, [this](int64_t handle, int64_t bytes) { return FetchHeld(*this, handle, bytes); });
}

int64_t EngineLink::process() const {
  const std::lock_guard lock(mutex_);
  return running_ && !running_->has_ended() ? started_ : 0;
}

int EngineLink::pid() const {
  const std::lock_guard lock(mutex_);
  return running_ && !running_->has_ended() ? running_->pid() : 0;
}

std::vector<uint8_t> FetchHeld(EngineLink& link, int64_t handle, int64_t bytes) {
  constexpr int64_t kSliceBytes = int64_t{16} << 20;
  std::vector<uint8_t> all;
  all.reserve(static_cast<size_t>(bytes));
  while (std::ssize(all) < bytes) {
    const Message part = link.Call(
        "read_array", {{"handle", handle}, {"begin", std::ssize(all)}, {"count", kSliceBytes}});
    const auto& data = part.at("data").get_binary();
    if (data.empty()) throw Failure("engine", "it sent less than an array's bytes");
    all.insert(all.end(), data.begin(), data.end());
  }
  link.Call("release", {{"handle", handle}});
  return all;
}

}  // namespace midscope
