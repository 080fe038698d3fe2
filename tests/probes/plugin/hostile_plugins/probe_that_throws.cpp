// SPDX-License-Identifier: MIT
// Has a probe for every place at which a plugin's code can throw, and for every way in which a
// record can be invalid; --throw-where chooses.
#include <stdexcept>

#include "probes/base/records.h"
#include "probes/plugin/plugin.h"

namespace {

class Thrower : public midscope::Hook, public midscope::Probe {
 public:
  explicit Thrower(std::string where) : where_(std::move(where)) {}

  std::vector<midscope::Hook*> Hooks() override {
    if (where_ == "hooks") throw std::runtime_error("no hooks today");
    if (where_ == "null-hook") return {nullptr};
    return {this};
  }

  midscope::HookRequest Request(const midscope::HookPoint& point,
                                const midscope::SequenceInfo& sequence) override {
    if (where_ == "asks") throw std::out_of_range("a point too far");
    if (point.site != midscope::HookSite::kResidPost) return {};
    return {midscope::HookAccess::kRead, {0, sequence.rows}};
  }

  void OnActivation(midscope::HookView&) override {
    if (where_ == "see") throw 42;
  }

  midscope::Record Finish(const midscope::RunResult&) override {
    if (where_ == "finish") throw std::logic_error("no end");
    midscope::Record record;
    record.name = where_ == "other-name" ? "last_logits" : "throw";
    record.axes = {midscope::CountedAxis("layer", 2)};
    record.arrays = {{where_ == "fixed-array" ? "last_logits" : "height",
                      {where_ == "wrong-axis" ? "depth" : "layer"},
                      std::vector<double>(where_ == "wrong-size" ? 3 : 2),
                      "m",
                      ""}};
    if (where_ == "schema-attribute") record.attributes["signal"] = std::string("mine");
    return record;
  }

 private:
  std::string where_;
};

void Register(midscope::ProbeRegistry& probes) {
  midscope::Parameter where;
  where.name = "throw-where";
  where.help = "where it throws";
  midscope::ProbeType type;
  type.name = "throw";
  type.summary = "goes wrong where it is told to";
  type.options = {where};
  type.wanted = [](const midscope::OptionSet& options) {
    if (options.Text("throw-where") == "wanted") options.Integer("throw-where");
    return options.IsSet("throw-where");
  };
  type.make = [](const midscope::ProbeInput& input) -> std::unique_ptr<midscope::Probe> {
    const std::string& chosen = input.options.Text("throw-where");
    if (chosen == "make") {
      throw midscope::UsageError("option --throw-where", "'make' does not fit the model");
    }
    if (chosen == "null") return nullptr;
    return std::make_unique<Thrower>(chosen);
  };
  probes.Add(type);
}

}  // namespace

MIDSCOPE_PLUGIN(Register)
