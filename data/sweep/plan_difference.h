// SPDX-License-Identifier: MIT
// The difference between two plans as text.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace midscope {

// The first member in which a stored plan and the requested one differ, in the order of the stored
// one: "seed is 1 there, and 2 is asked for"; for lists the elements that only one has: "settings:
// there without 'pi(1.5)'". "" where they are equal.
std::string FirstPlanDifference(const nlohmann::ordered_json& stored,
                                const nlohmann::ordered_json& asked);
// The same for plans as text. Where one is not JSON, that is the difference.
std::string FirstPlanDifference(const std::string& stored, const std::string& asked);

}  // namespace midscope
