// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_schemes_text.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "core/intervention/head_ratio_file.h"
#include "core/intervention/intervention_values.h"

namespace midscope {
namespace {

bool OpenEnded(const LayerSet& layers) {
  return !layers.all && layers.ranges.size() == 1 && layers.ranges[0].last == kEveryLayerAfter;
}

template <typename M>
struct MemberTypes;
template <typename T, typename V>
struct MemberTypes<V T::*> {
  using Class = T;
  using Value = V;
};
template <auto kMember>
using ClassOf = typename MemberTypes<decltype(kMember)>::Class;
template <auto kMember>
using ValueOf = typename MemberTypes<decltype(kMember)>::Value;

template <auto kMember>
std::string MemberText(const ClassOf<kMember>& value) {
  if constexpr (std::is_integral_v<ValueOf<kMember>>) {
    return std::to_string(value.*kMember);
  } else {
    return NumberText(value.*kMember);
  }
}

template <auto kMember>
Binding<ClassOf<kMember>> NumberBinding() {
  return {[](auto& value, const auto& argument, const auto& described) {
            value.*kMember = Number<ValueOf<kMember>>(OnlyValue(argument), described);
          },
          [](const auto& value, const auto&) { return MemberText<kMember>(value); }};
}

// A number, or the described word, which stands for 0.
template <auto kMember>
Binding<ClassOf<kMember>> NumberOrWordBinding() {
  return {[](auto& value, const auto& argument, const auto& described) {
            const TextAtom& atom = OnlyValue(argument);
            ValueOf<kMember> number{};
            if (ReadWhole(atom.text, number)) {
              value.*kMember = Number<ValueOf<kMember>>(atom, described);
            } else if (Choice(atom, described) > 0) {
              throw ErrorAt(atom.column, atom.text + " must be a number");
            } else {
              value.*kMember = 0;
            }
          },
          [](const auto& value, const auto& described) {
            return value.*kMember == 0 ? described.choices.front() : MemberText<kMember>(value);
          }};
}

template <auto kMember>
Binding<ClassOf<kMember>> ChoiceBinding() {
  return {[](auto& value, const auto& argument, const auto& described) {
            value.*kMember = static_cast<ValueOf<kMember>>(Choice(OnlyValue(argument), described));
          },
          [](const auto& value, const auto& described) {
            return described.choices.at(static_cast<size_t>(value.*kMember));
          }};
}

// Bindings: one an argument, in the order of the description.

const std::vector<Binding<PositionInterpolation>>& Bindings(const PositionInterpolation&) {
  static const std::vector<Binding<PositionInterpolation>> bindings = {
      NumberBinding<&PositionInterpolation::ratio>()};
  return bindings;
}

const std::vector<Binding<BaseChange>>& Bindings(const BaseChange&) {
  static const std::vector<Binding<BaseChange>> bindings = {NumberBinding<&BaseChange::base>()};
  return bindings;
}

const std::vector<Binding<Ntk>>& Bindings(const Ntk&) {
  static const std::vector<Binding<Ntk>> bindings = {NumberBinding<&Ntk::factor>()};
  return bindings;
}

const std::vector<Binding<DynamicNtk>>& Bindings(const DynamicNtk&) {
  static const std::vector<Binding<DynamicNtk>> bindings = {NumberBinding<&DynamicNtk::factor>()};
  return bindings;
}

const std::vector<Binding<DynamicLinear>>& Bindings(const DynamicLinear&) {
  static const std::vector<Binding<DynamicLinear>> bindings = {};
  return bindings;
}

const std::vector<Binding<Yarn>>& Bindings(const Yarn&) {
  static const std::vector<Binding<Yarn>> bindings = {
      NumberBinding<&Yarn::factor>(),    NumberOrWordBinding<&Yarn::context>(),
      ChoiceBinding<&Yarn::form>(),      NumberBinding<&Yarn::beta_fast>(),
      NumberBinding<&Yarn::beta_slow>(), NumberOrWordBinding<&Yarn::magnitude>()};
  return bindings;
}

const std::vector<Binding<NoRotation>>& Bindings(const NoRotation&) {
  static const std::vector<Binding<NoRotation>> bindings = {
      {[](auto& value, const auto& argument, const auto&) { value.layers = ReadLayers(argument); },
       [](const auto& value, const auto&) { return value.layers.Text(); }}};
  return bindings;
}

// ReadRatios reads the file and looks at the digest when it knows the seed.
const std::vector<Binding<HeadRatioTable>>& Bindings(const HeadRatioTable&) {
  static const std::vector<Binding<HeadRatioTable>> bindings = {
      {[](auto&, const auto&, const auto&) {},
       [](const auto& value, const auto&) {
         return IsWord(value.file) ? value.file : '"' + value.file + '"';
       }},
      {[](auto&, const auto&, const auto&) {},
       [](const auto& value, const auto&) { return RatioDigest(value); }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.shuffle = Number<uint64_t>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) {
         return value.shuffle ? std::to_string(*value.shuffle) : "";
       }}};
  return bindings;
}

const std::vector<Binding<MsPoe>>& Bindings(const MsPoe&) {
  static const std::vector<Binding<MsPoe>> bindings = {
      NumberBinding<&MsPoe::min>(),
      NumberBinding<&MsPoe::max>(),
      ChoiceBinding<&MsPoe::mode>(),
      ChoiceBinding<&MsPoe::order>(),
      {NumberBinding<&MsPoe::seed>().read,
       [](const auto& value, const auto&) {
         return value.order == MsPoeOrder::kRandom ? MemberText<&MsPoe::seed>(value) : "";
       }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.layers = LayerSet::From(Number<int64_t>(OnlyValue(argument), described));
       },
       [](const auto& value, const auto&) {
         return OpenEnded(value.layers) ? std::to_string(value.layers.ranges[0].first) : "";
       }},
      {[](auto& value, const auto& argument, const auto&) { value.layers = ReadLayers(argument); },
       [](const auto& value, const auto&) {
         return OpenEnded(value.layers) ? "" : value.layers.Text();
       }}};
  return bindings;
}

const std::vector<Binding<SelfExtend>>& Bindings(const SelfExtend&) {
  static const std::vector<Binding<SelfExtend>> bindings = {NumberBinding<&SelfExtend::group>(),
                                                            NumberBinding<&SelfExtend::window>()};
  return bindings;
}

const std::vector<Binding<InfiniAttention>>& Bindings(const InfiniAttention&) {
  static const std::vector<Binding<InfiniAttention>> bindings = {
      NumberBinding<&InfiniAttention::segment>(),
      {[](auto& value, const auto& argument, const auto& described) {
         value.gates.clear();
         for (const TextAtom& atom : argument.values)
           value.gates.push_back(Number<double>(atom, described));
       },
       [](const auto& value, const auto&) {
         std::string text;
         for (const double gate : value.gates) text += (text.empty() ? "" : ",") + NumberText(gate);
         return value.gates.size() == 1 ? text : "[" + text + "]";
       }},
      ChoiceBinding<&InfiniAttention::update>()};
  return bindings;
}

Yarn ReadYarn(const TextTerm& term) {
  const Yarn value = ReadTerm(term, Bindings(Yarn()));
  if (value.beta_fast > value.beta_slow) return value;
  const TextArgument* fast = Find(term, "beta_fast");
  throw ErrorAt((fast ? fast : Find(term, "beta_slow"))->column,
                "beta_fast (" + NumberText(value.beta_fast) + ") is not above beta_slow (" +
                    NumberText(value.beta_slow) + ")",
                "The papers have beta_fast=32, beta_slow=1");
}

NoRotation ReadNoRotation(const TextTerm& term) {
  RequireArguments(term, {"layers"}, "nope(layers=0-3)");
  return ReadTerm(term, Bindings(NoRotation()));
}

HeadRatioTable ReadRatios(const TextTerm& term) {
  RequireArguments(term, {"file"}, "ratios(ratios.json)");
  const TextAtom& file = OnlyValue(*Find(term, "file"));
  HeadRatioTable table;
  try {
    table = ReadHeadRatios(file.text);
  } catch (const Error& error) {
    throw ErrorAt(file.column, error.what());
  }
  const auto arguments = ReadTerm(term, Bindings(HeadRatioTable()));
  if (arguments.shuffle) table = ShuffledRatios(std::move(table), *arguments.shuffle);
  const TextArgument* digest = Find(term, "digest");
  if (digest && OnlyValue(*digest).text != RatioDigest(table)) {
    throw ErrorAt(
        digest->column,
        "the ratios in " + file.text + " are others now: their digest is " + RatioDigest(table),
        "Bring the file back, or leave digest out to take it as it is");
  }
  return table;
}

MsPoe ReadMsPoe(const TextTerm& term) {
  const TextArgument* first_layer = Find(term, "first_layer");
  const TextArgument* layers = Find(term, "layers");
  if (first_layer && layers) {
    throw ErrorAt(std::max(first_layer->column, layers->column),
                  "'first_layer' and 'layers' both say where to begin", "Leave one of the two out");
  }
  auto value = ReadTerm(term, Bindings(MsPoe()));
  const TextArgument* seed = Find(term, "seed");
  if (seed && value.order != MsPoeOrder::kRandom) {
    throw ErrorAt(seed->column, "only order=random takes a seed",
                  "Leave it out, or write order=random");
  }
  return value;
}

}  // namespace

PositionScheme ReadScheme(const TextTerm& term) {
  const std::string& name = term.term->name;
  if (name == "none") return NoScheme{};
  if (name == "pi") return ReadTerm(term, Bindings(PositionInterpolation()));
  if (name == "base") return ReadTerm(term, Bindings(BaseChange()));
  if (name == "ntk") return ReadTerm(term, Bindings(Ntk()));
  if (name == "dynamic-ntk") return ReadTerm(term, Bindings(DynamicNtk()));
  if (name == "dynamic-linear") return ReadTerm(term, Bindings(DynamicLinear()));
  if (name == "yarn") return ReadYarn(term);
  if (name == "nope") return ReadNoRotation(term);
  if (name == "ratios") return ReadRatios(term);
  if (name == "ms-poe") return ReadMsPoe(term);
  if (name == "self-extend") return ReadTerm(term, Bindings(SelfExtend()));
  if (name == "infini") return ReadTerm(term, Bindings(InfiniAttention()));
  // Never none: the run would be that of the model as it is, under the scheme's name.
  throw std::logic_error("the position scheme " + name + " is described and has no reader");
}

std::string PrintScheme(const PositionScheme& scheme) {
  return std::visit(
      [&scheme](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, NoScheme>) {
          return "";
        } else {
          return PrintTerm(SchemeName(scheme), value, Bindings(value));
        }
      },
      scheme);
}

}  // namespace midscope
