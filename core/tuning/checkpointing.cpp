// SPDX-License-Identifier: MIT
#include "core/tuning/checkpointing.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

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

}  // namespace

at::Tensor Checkpointed(const TensorFunction& function, const at::Tensor& x,
                        const std::vector<at::Tensor>& parameters) {
  return Recomputed::apply(x, at::TensorList(parameters), function);
}

}  // namespace midscope
