// SPDX-License-Identifier: MIT
// core/MODELS.md compared with the lists in the code: every family has a row, with its formats, the
// features that apply to it and the implementation it was compared with, and the page names no
// other family.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/model/families/family.h"
#include "core/model/model_source.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

std::string Page() {
  std::ifstream file(MIDSCOPE_TESTS "/../core/MODELS.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream text(line);
  for (std::string cell; std::getline(text, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// Names in backquotes: "`gemma`, `gemma2`".
std::vector<std::string> Quoted(const std::string& cell) {
  std::vector<std::string> names;
  size_t begin = 0;
  while ((begin = cell.find('`', begin)) != std::string::npos) {
    const size_t end = cell.find('`', begin + 1);
    names.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return names;
}

// The rows of the table under the line that begins so, by each name in the first cell.
std::map<std::string, std::vector<std::string>> Table(const std::string& head) {
  std::map<std::string, std::vector<std::string>> rows;
  std::stringstream page(Page());
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(head)) {
      inside = true;
    } else if (inside && line.empty()) {
      break;
    } else if (inside) {
      const std::vector<std::string> cells = Cells(line);
      for (const std::string& name : Quoted(cells.at(1)))
        rows[name] = {cells.begin() + 2, cells.end()};
    }
  }
  return rows;
}

std::set<std::string> NamesOfFamilies() {
  std::set<std::string> names;
  for (const Family* family : Families()) names.insert(std::string(family->name));
  return names;
}

TEST(ModelsPage, HasARowForEveryFamilyAndNoOther) {
  for (const char* head : {"| family | models |", "| family | formats |"}) {
    std::set<std::string> rows;
    for (const auto& [name, cells] : Table(head)) rows.insert(name);
    EXPECT_EQ(rows, NamesOfFamilies()) << head;
  }
}

// "folder, GGUF `llama`": the architecture of GGUF files.
TEST(ModelsPage, NamesTheFormatsThatAreRead) {
  const auto table = Table("| family | formats |");
  for (const Family* family : Families()) {
    const std::string formats = table.at(std::string(family->name)).at(0);
    EXPECT_EQ(formats.find("folder") != std::string::npos, !family->model_type.empty())
        << family->name;
    const std::vector<std::string> architectures = Quoted(formats);
    if (family->gguf_architecture.empty()) {
      EXPECT_TRUE(formats.find("GGUF") == std::string::npos || !architectures.empty())
          << family->name;
    } else {
      EXPECT_NE(std::find(architectures.begin(), architectures.end(), family->gguf_architecture),
                architectures.end())
          << family->name << ": " << formats;
    }
  }
}

// The positions that a family's tiny models have, which say what schemes apply.
TEST(ModelsPage, SaysWhichPositionsTheTinyModelsHave) {
  const auto table = Table("| family | formats |");
  std::set<std::string> tested;
  for (const std::string& name : test::TinyModelNames()) {
    const ModelConfig config = OpenModel(test::TinyModelPath(name))->config();
    const std::vector<std::string>& cells = table.at(config.architecture);
    tested.insert(config.architecture);
    const std::string& applies = cells.at(1);
    const bool refuses_schemes = applies.find("no schemes") != std::string::npos;
    if (config.positions != PositionKind::kRotary) {
      EXPECT_TRUE(refuses_schemes) << name;
    }
    EXPECT_EQ(applies.find("no `infini`") != std::string::npos, config.latent.used()) << name;
    if (config.experts.count > 0) {
      EXPECT_NE(applies.find("`expert_use`"), std::string::npos) << name;
    }
    EXPECT_EQ(applies.find("no `answer_attribution`") != std::string::npos &&
                  name.find("350m") != std::string::npos,
              config.stream_norms)
        << name;
    EXPECT_EQ(applies.find("`position_embeddings`") != std::string::npos,
              EmbedsPositions(config.positions))
        << name;
    EXPECT_NE(cells.at(2).find("transformers"), std::string::npos) << name;
  }
  EXPECT_EQ(tested, NamesOfFamilies());
}

}  // namespace
}  // namespace midscope
