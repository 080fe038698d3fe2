// SPDX-License-Identifier: MIT
#include "data/tasks/mmlu_subjects.h"

#include <algorithm>
#include <array>

namespace midscope {
namespace {

struct SubjectGroup {
  const char* subject;
  const char* group;
};

constexpr std::array kSubjects = {
    SubjectGroup{"abstract_algebra", "STEM"},
    SubjectGroup{"astronomy", "STEM"},
    SubjectGroup{"college_biology", "STEM"},
    SubjectGroup{"college_chemistry", "STEM"},
    SubjectGroup{"college_computer_science", "STEM"},
    SubjectGroup{"college_mathematics", "STEM"},
    SubjectGroup{"college_physics", "STEM"},
    SubjectGroup{"computer_security", "STEM"},
    SubjectGroup{"conceptual_physics", "STEM"},
    SubjectGroup{"electrical_engineering", "STEM"},
    SubjectGroup{"elementary_mathematics", "STEM"},
    SubjectGroup{"high_school_biology", "STEM"},
    SubjectGroup{"high_school_chemistry", "STEM"},
    SubjectGroup{"high_school_computer_science", "STEM"},
    SubjectGroup{"high_school_mathematics", "STEM"},
    SubjectGroup{"high_school_physics", "STEM"},
    SubjectGroup{"high_school_statistics", "STEM"},
    SubjectGroup{"machine_learning", "STEM"},
    SubjectGroup{"formal_logic", "humanities"},
    SubjectGroup{"high_school_european_history", "humanities"},
    SubjectGroup{"high_school_us_history", "humanities"},
    SubjectGroup{"high_school_world_history", "humanities"},
    SubjectGroup{"international_law", "humanities"},
    SubjectGroup{"jurisprudence", "humanities"},
    SubjectGroup{"logical_fallacies", "humanities"},
    SubjectGroup{"moral_disputes", "humanities"},
    SubjectGroup{"moral_scenarios", "humanities"},
    SubjectGroup{"philosophy", "humanities"},
    SubjectGroup{"prehistory", "humanities"},
    SubjectGroup{"professional_law", "humanities"},
    SubjectGroup{"world_religions", "humanities"},
    SubjectGroup{"econometrics", "social sciences"},
    SubjectGroup{"high_school_geography", "social sciences"},
    SubjectGroup{"high_school_government_and_politics", "social sciences"},
    SubjectGroup{"high_school_macroeconomics", "social sciences"},
    SubjectGroup{"high_school_microeconomics", "social sciences"},
    SubjectGroup{"high_school_psychology", "social sciences"},
    SubjectGroup{"human_sexuality", "social sciences"},
    SubjectGroup{"professional_psychology", "social sciences"},
    SubjectGroup{"public_relations", "social sciences"},
    SubjectGroup{"security_studies", "social sciences"},
    SubjectGroup{"sociology", "social sciences"},
    SubjectGroup{"us_foreign_policy", "social sciences"},
    SubjectGroup{"anatomy", "other"},
    SubjectGroup{"business_ethics", "other"},
    SubjectGroup{"clinical_knowledge", "other"},
    SubjectGroup{"college_medicine", "other"},
    SubjectGroup{"global_facts", "other"},
    SubjectGroup{"human_aging", "other"},
    SubjectGroup{"management", "other"},
    SubjectGroup{"marketing", "other"},
    SubjectGroup{"medical_genetics", "other"},
    SubjectGroup{"miscellaneous", "other"},
    SubjectGroup{"nutrition", "other"},
    SubjectGroup{"professional_accounting", "other"},
    SubjectGroup{"professional_medicine", "other"},
    SubjectGroup{"virology", "other"},
};

}  // namespace

std::string MmluGroup(std::string_view subject) {
  const auto found =
      std::find_if(kSubjects.begin(), kSubjects.end(),
                   [&](const SubjectGroup& each) { return each.subject == subject; });
  return found == kSubjects.end() ? "" : found->group;
}

}  // namespace midscope
