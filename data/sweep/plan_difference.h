// SPDX-License-Identifier: MIT
// In what two plans differ, in words.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace midscope {

// The first member in which a stored plan and the one that is asked for differ, in the order of the
// stored one: "seed is 1 there, and 2 is asked for"; of lists what each has alone: "settings: there
// without 'pi(1.5)'". "" where they are equal.
std::string FirstPlanDifference(const nlohmann::ordered_json& stored,
                                const nlohmann::ordered_json& asked);
// The same of plans as text. Where one is no JSON: that.
std::string FirstPlanDifference(const std::string& stored, const std::string& asked);

}  // namespace midscope
