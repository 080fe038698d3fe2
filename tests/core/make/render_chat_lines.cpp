// SPDX-License-Identifier: MIT
// Helper of compare_chat_template.py: reads one JSON object per line from stdin, {"template",
// "messages", "add_generation_prompt", "bos", "eos", "variables", "date"}, and writes one line
// {"text"} or {"error"} for each.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/chat/chat_template.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = nlohmann::ordered_json::parse(line);
    nlohmann::json answer;
    try {
      std::vector<midscope::ChatMessage> messages;
      for (const auto& message : request["messages"])
        messages.push_back({message["role"], message["content"]});
      const midscope::ChatOptions options{request["variables"].dump(), request["date"]};
      answer["text"] = midscope::RenderChat(request["template"].get<std::string>(), messages,
                                            request["add_generation_prompt"],
                                            {request["bos"], request["eos"]}, options);
    } catch (const midscope::Error& error) {
      answer["error"] = error.what();
    }
    std::cout << answer.dump() << '\n';
  }
  return 0;
}
