// SPDX-License-Identifier: MIT
#include "probes/serve/server.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/utf8.h"
#include "probes/serve/frames.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

constexpr const char* kWhatIf = "what_if";

// A request that waits or runs.
struct Request {
  Message id;
  const Method* method = nullptr;
  Message params;
  std::atomic<bool> cancel{false};
  const char* cancelled_reason = "it was cancelled";
};
using RequestPointer = std::shared_ptr<Request>;

class Server {
 public:
  Server(int output, std::unique_ptr<Engine> engine)
      : session_(std::move(engine)), writer_(output) {
    writer_.SendLine("midscope-engine " + std::to_string(kProtocolVersion));
    worker_ = std::thread([this] { RunWaiting(); });
  }

  void Read(int input) {
    FrameReader reader(input);
    while (true) {
      try {
        const std::optional<std::string> frame = reader.Next();
        if (!frame) break;
        Take(UnpackMessage(*frame));
      } catch (const Error& error) {
        Send({{"id", nullptr}, {"error", ErrorMessage(error)}});
      }
    }
    Leave();
  }

 private:
  // Handles one message of the client.
  void Take(Message message) {
    if (!message.is_object()) throw Failure("message", "it must be a map");
    if (message.contains("cancel")) {
      CancelRequest(message["cancel"]);
    } else if (message.contains("reply")) {
      TakeReply(std::move(message));
    } else {
      TakeRequest(std::move(message));
    }
  }

  void TakeRequest(Message message) {
    auto request = std::make_shared<Request>();
    request->id = message.value("id", Message());
    const std::string name = message.contains("method") && message["method"].is_string()
                                 ? message["method"].get<std::string>()
                                 : "";
    request->params = message.value("params", Message::object());
    request->method = FindMethod(name);
    try {
      if (!request->id.is_number_integer()) {
        throw UsageError("request", "its id must be an integer");
      }
      if (!request->method) {
        std::vector<std::string> names;
        for (const Method& method : Methods()) names.push_back(method.name);
        throw UsageError("method " + Quote(name), "it is unknown", KnownWordsHint(name, names));
      }
      CheckParams(*request);
    } catch (const Error& error) {
      Send({{"id", request->id}, {"error", ErrorMessage(error)}});
      return;
    }
    const std::lock_guard lock(mutex_);
    if (request->method->runs_beside) {
      beside_.emplace_back(request, std::thread([this, request] { Run(*request); }));
      return;
    }
    if (name == kWhatIf) Supersede();
    waiting_.push_back(std::move(request));
    changed_.notify_all();
  }

  static void CheckParams(const Request& request) {
    const JsonFields params(request.params, request.method->name, "");
    std::vector<std::string> names;
    for (const MethodParameter& parameter : request.method->parameters) {
      names.push_back(parameter.name);
      if (parameter.required && !params.Find(parameter.name)) {
        throw UsageError(request.method->name, "it needs " + Quote(parameter.name), parameter.help);
      }
    }
    params.RefuseOthers(names);
  }

  // Requires mutex_.
  void Supersede() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if ((*it)->method->name != kWhatIf) {
        ++it;
        continue;
      }
      SendCancelled(**it, "a newer what_if supersedes it");
      it = waiting_.erase(it);
    }
    if (running_ && running_->method->name == kWhatIf) {
      running_->cancelled_reason = "a newer what_if supersedes it";
      running_->cancel = true;
    }
  }

  void CancelRequest(const Message& id) {
    const std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if ((*it)->id != id) continue;
      SendCancelled(**it, (*it)->cancelled_reason);
      waiting_.erase(it);
      return;
    }
    if (running_ && running_->id == id) running_->cancel = true;
    for (auto& [request, thread] : beside_) {
      if (request->id == id) request->cancel = true;
    }
    changed_.notify_all();  // a hook may be waiting for an answer
  }

  void TakeReply(Message message) {
    const std::lock_guard lock(mutex_);
    const Message id = message["reply"];
    replies_[id.is_number_integer() ? id.get<int64_t>() : -1] = std::move(message);
    changed_.notify_all();
  }

  void Leave() {
    {
      const std::lock_guard lock(mutex_);
      left_ = true;
      waiting_.clear();
      if (running_) running_->cancel = true;
      for (auto& [request, thread] : beside_) request->cancel = true;
      changed_.notify_all();
    }
    writer_.Close();
    worker_.join();
    for (auto& [request, thread] : beside_) thread.join();
  }

  // Runs requests that use the model, until the client leaves.
  void RunWaiting() {
    while (true) {
      RequestPointer request;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return left_ || !waiting_.empty(); });
        if (left_) return;
        request = waiting_.front();
        waiting_.pop_front();
        running_ = request;
      }
      Run(*request);
      const std::lock_guard lock(mutex_);
      running_ = nullptr;
    }
  }

  void Run(const Request& request) {
    Message answer = {{"id", request.id}};
    JobContext job;
    job.cancel = &request.cancel;
    job.progress = [&](const Progress& progress) {
      Send({{"id", request.id},
            {"progress",
             {{"stage", progress.stage},
              {"done", progress.done},
              {"total", progress.total},
              {"unit", progress.unit}}}});
    };
    job.log = [&](const std::string& message) { Send({{"id", request.id}, {"log", message}}); };
    job.warn = [&](const std::string& message) {
      Send({{"id", request.id}, {"log", message}, {"warning", true}});
    };
    std::optional<Message> failure;
    const JobOutcome outcome = RunJob(job, [&](const JobContext& context) {
      try {
        const JsonFields params(request.params, request.method->name, "");
        const Call call = {params, context,
                           [&](const Message& part) {
                             Send({{"id", request.id}, {"partial", part}});
                           },
                           [&](const Message& question) { return Ask(request, question); }};
        answer["result"] = request.method->run(session_, call);
      } catch (const Error& error) {
        failure = ErrorMessage(error);
        throw;
      }
    });
    if (outcome.end == JobEnd::kCancelled) {
      SendCancelled(request, request.cancelled_reason);
      return;
    }
    if (outcome.end == JobEnd::kFailed) {
      answer["error"] = failure.value_or(Message{{"thing", request.method->name},
                                                 {"reason", outcome.why},
                                                 {"remedy", ""},
                                                 {"usage", false}});
    }
    Send(std::move(answer));
  }

  Message Ask(const Request& request, const Message& question) {
    int64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++last_question_;
    }
    Send({{"id", request.id}, {"question", number}, {"about", question}});
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ || request.cancel || replies_.contains(number); });
    const auto found = replies_.find(number);
    if (found == replies_.end()) throw Cancelled();
    const Message reply = std::move(found->second);
    replies_.erase(found);
    if (reply.contains("error")) {
      throw Failure("hook", reply["error"].is_string() ? reply["error"].get<std::string>()
                                                       : "the client's function failed");
    }
    return reply.value("value", Message());
  }

  void SendCancelled(const Request& request, const char* reason) {
    Send({{"id", request.id},
          {"error",
           {{"thing", request.method->name},
            {"reason", reason},
            {"remedy", ""},
            {"usage", false},
            {"cancelled", true}}}});
  }

  void Send(Message message) {
    const Message id = message["id"];
    Frame frame = PackFrame(std::move(message));
    if (frame.size() > kLargestFrame) {
      frame = PackFrame({{"id", id},
                         {"error",
                          {{"thing", "answer"},
                           {"reason", "it is larger than a frame"},
                           {"remedy", "Request fewer values, such as fewer rows"},
                           {"usage", false}}}});
    }
    writer_.Send(std::move(frame));
  }

  EngineSession session_;
  FrameWriter writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RequestPointer> waiting_;                        // guarded by mutex_
  RequestPointer running_;                                    // guarded by mutex_
  std::list<std::pair<RequestPointer, std::thread>> beside_;  // guarded by mutex_
  std::map<int64_t, Message> replies_;                        // guarded by mutex_
  int64_t last_question_ = 0;                                 // guarded by mutex_
  bool left_ = false;                                         // guarded by mutex_
  std::thread worker_;
};

}  // namespace

int ServeClient(int input, int output, std::unique_ptr<Engine> engine) {
  Server(output, std::move(engine)).Read(input);
  return 0;
}

}  // namespace midscope
