// SPDX-License-Identifier: MIT
// The subjects of MMLU and the groups in which its table has them (Hendrycks et al. 2020, arXiv
// 2009.03300; categories.py of github.com/hendrycks/test).
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// "STEM", "humanities", "social sciences" or "other" of a subject as its files are called
// ("high_school_physics"); "" where there is none of that name.
std::string MmluGroup(std::string_view subject);

}  // namespace midscope
