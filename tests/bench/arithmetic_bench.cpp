// SPDX-License-Identifier: MIT
// Measures the error of faster arithmetic in logits and answers, on the embedded model or another.
//
//   arithmetic_bench PROMPTS [MODEL]
//
// Prints one JSON line each for bfloat16, int16 products, int8 products, and int8 products in
// bfloat16, all compared with float32: the largest and the mean difference of the last prompt row's
// logits, the mean difference of answers in nats, and how often the most likely next token is the
// same. Prompts are list:lines=20 with seed 1, at the default places in turn.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/compute/process_start.h"
#include "probes/model/arithmetic_distance.h"

int main(int argc, char** argv) {
  using midscope::Arithmetic;
  using midscope::Products;
  using midscope::kernels::Dtype;
  midscope::PrepareProcess(argv);
  if (argc < 2) {
    std::fprintf(stderr, "arithmetic_bench PROMPTS [MODEL]\n");
    return 2;
  }
  const Arithmetic others[] = {{Dtype::kBFloat16, Products::kFloat},
                               {Dtype::kFloat32, Products::kInt16},
                               {Dtype::kFloat32, Products::kInt8},
                               {Dtype::kBFloat16, Products::kInt8}};
  try {
    const auto distances = midscope::MeasureArithmeticDistances(argc > 2 ? argv[2] : "embedded", {},
                                                                others, std::atol(argv[1]), {});
    for (size_t i = 0; i < distances.size(); ++i) {
      const midscope::ArithmeticDistance& distance = distances[i];
      std::printf(
          "{\"arithmetic\": \"%s\", \"prompts\": %ld, \"largest_logit\": %.4f, \"mean_logit\": "
          "%.4f, "
          "\"answer_nats\": %.4f, \"same_first\": %ld}\n",
          midscope::ArithmeticName(others[i]).c_str(), static_cast<long>(distance.prompts),
          distance.largest_logit, distance.mean_logit, distance.answer_nats,
          static_cast<long>(distance.same_first));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arithmetic_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
