// SPDX-License-Identifier: MIT
#include "core/tuning/checkpointing.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <memory>

namespace midscope {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The function as a value that a context can hold.
struct HeldFunction : torch::CustomClassHolder {
  explicit HeldFunction(TensorFunction held) : function(std::move(held)) {}
  TensorFunction function;
};

// Inputs: x, the parameters, the function.
class Recomputed : public torch::autograd::Function<Recomputed> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::TensorList& parameters, const TensorFunction& function) {
    variable_list saved = {x};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(saved);
    context->saved_data["function"] =
        at::IValue::make_capsule(c10::make_intrusive<HeldFunction>(function));
    return function(x);  // without gradients, as in every forward of such a class
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list inputs = context->get_saved_variables();
    const at::AutoGradMode with_gradients(true);
    inputs.front() = inputs.front().detach().set_requires_grad(true);
    const auto held = context->saved_data["function"].toCapsule();
    const at::Tensor result = static_cast<HeldFunction*>(held.get())->function(inputs.front());
    variable_list wanted;
    for (const at::Tensor& input : inputs) {
      if (input.requires_grad()) wanted.push_back(input);
    }
    const variable_list found =
        torch::autograd::grad({result}, wanted, gradients, /*retain_graph=*/std::nullopt,
                              /*create_graph=*/false, /*allow_unused=*/true);
    variable_list of_inputs(inputs.size() + 1);  // the last is the function's: none
    size_t next = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].requires_grad()) of_inputs[i] = found[next++];
    }
    return of_inputs;
  }
};

// Inputs: x, the parameters. The sum and its gradients are known; undefined ones are zero.
class KnownGradients : public torch::autograd::Function<KnownGradients> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& /*x*/,
                            const at::TensorList& /*parameters*/, const at::Tensor& sum,
                            const variable_list& gradients) {
    context->save_for_backward(gradients);
    return sum;
  }

  static variable_list backward(AutogradContext* context, const variable_list& of_sum) {
    variable_list gradients = context->get_saved_variables();
    for (at::Tensor& gradient : gradients) {
      if (gradient.defined()) gradient = gradient * of_sum.front();
    }
    gradients.resize(gradients.size() + 2);  // of the sum and of the gradients: none
    return gradients;
  }
};

}  // namespace

at::Tensor Checkpointed(const TensorFunction& function, const at::Tensor& x,
                        const std::vector<at::Tensor>& parameters) {
  return Recomputed::apply(x, at::TensorList(parameters), function);
}

at::Tensor SumOfParts(const RowsFunction& function, const at::Tensor& x, int64_t rows,
                      const std::vector<at::Tensor>& parameters) {
  const bool differentiate = at::GradMode::is_enabled();
  variable_list gradients(1 + parameters.size());  // of x, of the parameters
  if (x.requires_grad()) gradients.front() = at::empty_like(x);
  at::Tensor sum = at::zeros({}, x.options().dtype(at::kFloat));
  for (int64_t first = 0; first < x.size(0); first += rows) {
    const int64_t count = std::min(rows, x.size(0) - first);
    const at::Tensor part = x.narrow(0, first, count).detach().set_requires_grad(x.requires_grad());
    const at::Tensor value = function(part, first);
    sum += value.detach();
    if (!differentiate || !value.requires_grad()) continue;
    variable_list wanted = parameters;
    if (part.requires_grad()) wanted.insert(wanted.begin(), part);
    const variable_list found =
        torch::autograd::grad({value}, wanted, {}, /*retain_graph=*/std::nullopt,
                              /*create_graph=*/false, /*allow_unused=*/true);
    size_t next = 0;
    if (part.requires_grad()) gradients.front().narrow(0, first, count).copy_(found[next++]);
    for (size_t i = 1; i < gradients.size(); ++i, ++next) {
      if (!found[next].defined()) continue;
      if (!gradients[i].defined()) gradients[i] = at::zeros_like(found[next]);
      gradients[i].add_(found[next]);
    }
  }
  if (!differentiate) return sum;
  return KnownGradients::apply(x, at::TensorList(parameters), sum, gradients);
}

}  // namespace midscope
