// SPDX-License-Identifier: MIT
// Chat templates of families, for models whose files have none. Formats: as the families' own
// tokenizer_config.json write them; vicuna: lm-sys/FastChat fastchat/conversation.py (vicuna_v1.1).
#pragma once

#include <array>
#include <string_view>

namespace midscope {

struct ChatFamily {
  std::string_view name;
  std::string_view text;
};

inline constexpr std::array<ChatFamily, 8> kChatFamilies = {{
    {"chatml",
     "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
     "message['content'] + '<|im_end|>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"},
    {"gemma",
     "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
     "{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}"
     "{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + "
     "'\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"},
    {"llama2",
     "{% set system = messages[0]['content'] if messages[0]['role'] == 'system' else false %}"
     "{% for message in (messages[1:] if system else messages) %}"
     "{% if message['role'] == 'user' %}{% set content = message['content'] %}"
     "{% if loop.first and system %}"
     "{% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + content %}{% endif %}"
     "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
     "{% else %}{{ ' ' + message['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}"},
    {"llama3",
     "{{ bos_token }}{% for message in messages %}"
     "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + "
     "message['content'] | trim + '<|eot_id|>' }}{% endfor %}"
     "{% if add_generation_prompt %}"
     "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"},
    {"mistral",
     "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
     "{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
     "{{ message['content'] + eos_token }}{% else %}"
     "{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
     "{% endfor %}"},
    {"phi3",
     "{% for message in messages %}"
     "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"},
    {"vicuna",
     "{{ bos_token }}{% if messages[0]['role'] != 'system' %}"
     "{{ 'A chat between a curious user and an artificial intelligence assistant. The assistant "
     "gives helpful, detailed, and polite answers to the user\\'s questions. ' }}{% endif %}"
     "{% for message in messages %}"
     "{% if message['role'] == 'system' %}{{ message['content'] + ' ' }}"
     "{% elif message['role'] == 'user' %}{{ 'USER: ' + message['content'] + ' ' }}"
     "{% else %}{{ 'ASSISTANT: ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
     "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"},
    {"zephyr",
     "{% for message in messages %}"
     "{{ '<|' + message['role'] + '|>\\n' + message['content'] + eos_token + '\\n' }}"
     "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"},
}};

}  // namespace midscope
