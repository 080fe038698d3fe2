// SPDX-License-Identifier: MIT
// Adds a control vector from a file to the residual stream.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/formats/control_vector_file.h"
#include "core/intervention/term_form.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::vector {
namespace {

struct AddVector {
  std::string file;  // the file from which `vector` was read
  std::shared_ptr<const ControlVector> vector;
  double scale = 1;
  LayerSet layers;
  RowChoice rows{ChannelRows::kAll};
  // Compares the numbers of the file, not its name.
  bool operator==(const AddVector& other) const {
    const bool same = vector == other.vector ||
                      (vector && other.vector && vector->directions == other.vector->directions);
    return same && scale == other.scale && layers == other.layers && rows == other.rows;
  }
};

std::string Digest(const AddVector& value) { return ControlVectorDigest(*value.vector); }

AddVector Read(const TextTerm& term, const TermForm<AddVector>& form) {
  AddVector value = ReadArguments(term, form);
  value.vector = ReadTermFile(term, [&](const std::string& file) {
    value.file = file;
    return std::make_shared<const ControlVector>(ReadControlVector(file));
  });
  CheckDigest(term, "numbers", Digest(value));
  return value;
}

void CheckFits(const AddVector& value, const TermPlans& plans) {
  const std::string name = plans.term + "(" + value.file + ")";
  CheckLayers(value.layers, plans.config, name);
  const auto& directions = value.vector->directions;
  const auto hidden = static_cast<int64_t>(directions.begin()->second.size());
  if (hidden != plans.config.hidden) {
    throw UsageError(name,
                     fmt::format("its directions have {} numbers, the model's stream has {}",
                                 hidden, plans.config.hidden),
                     "It was made for another model");
  }
  const int64_t last = directions.rbegin()->first;
  if (last >= plans.config.layers) {
    throw UsageError(name, fmt::format("it has a direction for layer {}", last),
                     fmt::format("The model has layers 0-{}", plans.config.layers - 1));
  }
  for (const auto& [layer, values] : directions) {
    if (value.layers.Contains(layer)) return;
  }
  throw UsageError(name, "it has no direction for layers=" + value.layers.Text(),
                   fmt::format("It has some for layers {} to {}", directions.begin()->first, last));
}

void Apply(const AddVector& value, const TermPlans& plans) {
  CheckFits(value, plans);
  const RowRange rows = RowsOf(value.rows, plans.prompt_tokens);
  ForLayers(value.layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    const auto found = value.vector->directions.find(layer);
    if (found == value.vector->directions.end()) return;
    AddedVector added{rows, found->second};
    for (float& x : added.values) x = static_cast<float>(x * value.scale);
    plan.residual.added.push_back(std::move(added));
  });
}

AddVector Sample(const ModelConfig& config) {
  ControlVector vector;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    vector.directions[layer].assign(static_cast<size_t>(config.hidden), 0.5F);
  AddVector value;
  value.vector = std::make_shared<const ControlVector>(std::move(vector));
  return value;
}

std::vector<BoundArgument<AddVector>> Arguments() {
  return {
      RequiredArgument(TermFileArgument<AddVector>(
          "A control vector as GGUF: direction.N is added after block N, counted from 0, as "
          "llama.cpp and repeng do. midscope export --format gguf writes one")),
      DigestArgument<AddVector, Digest>(),
      NumberArgument<&AddVector::scale>("scale", "What the directions are multiplied by.",
                                        {-1e6, 1e6}, 1),
      LayersArgument<AddVector>("After which blocks, of those that the file has a direction for: "
                                "all, 8-25 or [2-8,12]."),
      RowsArgument<AddVector>("Rows to which they are added.", "all")};
}

}  // namespace

TermType Type() {
  return MakeTerm<AddVector>(
      {.name = "vector",
       .summary = "Adds a control vector to the residual stream after the blocks that it has a "
                  "direction for.",
       .source = "Zou et al. 2023, arXiv 2310.01405; files as of repeng and llama.cpp "
                 "(--control-vector-scaled), which add to every row. llama.cpp adds nothing after "
                 "block 0.",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .correct_example = "vector(position.gguf, scale=2)",
       .examples = {"vector(position.gguf, scale=-2, layers=8-25, rows=last)"},
       .read = Read},
      Apply, {.sample = Sample});
}

}  // namespace midscope::vector
