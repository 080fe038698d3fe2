// SPDX-License-Identifier: MIT
// Helper of compare_tokenizer.py: reads one JSON string per line from stdin and writes one line
// with its token ids, separated by spaces, for each.
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/formats/gguf_file.h"
#include "core/tokenizer/tokenizer.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tokenize_lines MODEL < LINES.jsonl   (MODEL: a .gguf file or a folder)\n";
    return 2;
  }
  try {
    const midscope::Tokenizer tokenizer = std::filesystem::is_directory(argv[1])
                                              ? midscope::Tokenizer::FromFolder(argv[1])
                                              : midscope::Tokenizer{midscope::GgufFile(argv[1])};
    for (std::string line; std::getline(std::cin, line);) {
      const auto text = nlohmann::json::parse(line).get<std::string>();
      const char* separator = "";
      for (const int32_t id : tokenizer.EncodeIds(text)) {
        std::cout << separator << id;
        separator = " ";
      }
      std::cout << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
