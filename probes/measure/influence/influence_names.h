// SPDX-License-Identifier: MIT
// Names of the records of `midscope influence` and of their arrays, and the options that state
// which gradients are computed. Code that only reads the records, such as the window, needs no
// other header.
#pragma once

#include <vector>

#include "core/base/parameter.h"

namespace midscope {

// Returns the options cotangents, cotangent-seed and parts.
std::vector<Parameter> GradientOptions();

// Record of the gradients' norms by token of each prompt, [sample, place, layer, token].
inline constexpr const char* kInfluenceRecord = "influence";
// Record of the means over samples, [place, ...].
inline constexpr const char* kInfluenceByPlaceRecord = "influence_by_place";

// Arrays of the two gradients: of the answer's log likelihood, and of the output as a whole.
inline constexpr const char* kAnswerGradient = "answer_gradient";
inline constexpr const char* kOutputGradient = "output_gradient";
inline constexpr const char* kInfluenceKinds[] = {kAnswerGradient, kOutputGradient};

// Arrays of the closed form for even attention (cesaro.h), fitted to kOutputGradient at the
// embeddings, with the attributes of its fit.
inline constexpr const char* kClosedFormByPart = "closed_form_by_part";    // [part]
inline constexpr const char* kClosedFormByShare = "closed_form_by_share";  // [share]
inline constexpr const char* kClosedFormAlpha = "closed_form_alpha";
inline constexpr const char* kClosedFormDifference = "closed_form_difference";

// Attribute of both records with the name of the model: "embedded@init".
inline constexpr const char* kInfluenceModel = "model";

}  // namespace midscope
