// SPDX-License-Identifier: MIT
#include "probes/plugin/guarded_probe.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/run_store.h"

namespace midscope {
namespace {

// Scripts find these arrays by name, anywhere in a file.
constexpr std::string_view kFixedArrays[] = {kTokenIds, kLastLogits, kLastQueryAttention,
                                             kPositionAwarenessScore, kPositionRatio};

Error Thrown(const std::string& plugin, const std::string& doing, const std::string& what) {
  return Failure("plugin " + plugin, doing + " threw " + what,
                 "The fault is in the plugin: report it to its author, or run without it");
}

class PluginGuard {
 public:
  PluginGuard(std::string plugin, std::string probe)
      : plugin_(std::move(plugin)), probe_("probe '" + std::move(probe) + "'") {}

  template <typename Work>
  auto operator()(const char* part, const Work& work) const {
    decltype(work()) result{};
    RunInPlugin(plugin_, probe_ + ", " + part + ",", [&] { result = work(); });
    return result;
  }

  void Require(bool holds, const std::string& why) const {
    if (holds) return;
    throw Failure("plugin " + plugin_, probe_ + " " + why, "The fault is in the plugin");
  }

 private:
  std::string plugin_;
  std::string probe_;
};

class GuardedHook : public Hook {
 public:
  GuardedHook(const PluginGuard& guard, Hook* hook) : guard_(guard), hook_(hook) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    return guard_("Hook::Request", [&] { return hook_->Request(point, sequence); });
  }

  void OnActivation(HookView& view) override {
    guard_("Hook::OnActivation", [&] {
      hook_->OnActivation(view);
      return true;
    });
  }

 private:
  const PluginGuard& guard_;
  Hook* hook_;
};

class GuardedProbe : public Probe {
 public:
  GuardedProbe(PluginGuard guard, std::unique_ptr<Probe> probe, std::string name,
               PluginOrigin origin)
      : guard_(std::move(guard)),
        probe_(std::move(probe)),
        name_(std::move(name)),
        origin_(std::move(origin)) {
    guard_.Require(probe_ != nullptr, "made none: ProbeType::make returned null");
  }

  std::vector<Hook*> Hooks() override {
    hooks_.clear();
    for (Hook* hook : guard_("Probe::Hooks", [&] { return probe_->Hooks(); })) {
      guard_.Require(hook != nullptr, "has a hook that is null");
      hooks_.push_back(std::make_unique<GuardedHook>(guard_, hook));
    }
    std::vector<Hook*> guarded;
    guarded.reserve(hooks_.size());
    for (const auto& hook : hooks_) guarded.push_back(hook.get());
    return guarded;
  }

  Record Finish(const RunResult& result) override {
    Record record = guard_("Probe::Finish", [&] { return probe_->Finish(result); });
    guard_.Require(record.name == name_,
                   "gave a record called '" + record.name + "', which must have the probe's name");
    record.attributes["plugin"] = origin_.file;
    record.attributes["plugin_hash"] = origin_.hash;
    try {
      CheckStorable(record);
    } catch (const std::logic_error& error) {
      guard_.Require(false,
                     std::string("gave a record that does not hold together: ") + error.what());
    }
    for (const Array& array : record.arrays) {
      const bool taken = std::find(std::begin(kFixedArrays), std::end(kFixedArrays), array.name) !=
                         std::end(kFixedArrays);
      guard_.Require(!taken, "gave an array called '" + array.name +
                                 "', a name that only Midscope's own array has in a file");
    }
    return record;
  }

 private:
  PluginGuard guard_;
  std::unique_ptr<Probe> probe_;
  std::string name_;
  PluginOrigin origin_;
  std::vector<std::unique_ptr<GuardedHook>> hooks_;
};

}  // namespace

void RunInPlugin(const std::string& plugin, const std::string& doing,
                 const std::function<void()>& work) {
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const DeviceError&) {
    throw;  // the exception is not from the plugin
  } catch (const Error& error) {
    throw Error(error.kind(), "plugin " + plugin, error.what());
  } catch (const std::exception& error) {
    throw Thrown(plugin, doing, std::string("'") + error.what() + "'");
  } catch (...) {
    throw Thrown(plugin, doing, "an exception that is not a std::exception");
  }
}

ProbeType GuardedProbeType(ProbeType type, const PluginOrigin& origin) {
  const PluginGuard guard(origin.file, type.name);
  type.plugin = origin.file;
  if (type.wanted) {
    type.wanted = [guard, wanted = std::move(type.wanted)](const OptionSet& options) {
      return guard("ProbeType::wanted", [&] { return wanted(options); });
    };
  }
  type.make = [guard, origin, name = type.name,
               make = std::move(type.make)](const ProbeInput& input) -> std::unique_ptr<Probe> {
    return std::make_unique<GuardedProbe>(
        guard, guard("ProbeType::make", [&] { return make(input); }), name, origin);
  };
  return type;
}

}  // namespace midscope
