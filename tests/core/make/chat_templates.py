# SPDX-License-Identifier: MIT
"""Chat templates as models of each family ship them (parts that only tools or pictures reach are left out of the long ones).

templates/NAME.jinja holds the text of each to the byte; "corners" and "values" are of no model: they try what the others leave out.
"""
import pathlib

NAMES = [
    "chatml", "qwen1.5", "qwen2.5", "qwen3", "llama2", "llama3", "llama3.2", "mistral", "gemma2", "gemma3", "phi3",
    "zephyr", "olmo2", "vicuna", "corners", "smollm3", "mistral-small-3", "mistral-nemo", "gpt-oss", "llama3.1", "phi4",
    "phi4-mini", "deepseek-r1", "values"
]

TEMPLATES = {name: (pathlib.Path(__file__).parent / "templates" / f"{name}.jinja").read_bytes().decode() for name in NAMES}

TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The \u5929\u6c17 of a \"city\"", "parameters": {
        "type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Its name"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "days": {"type": "array", "items": {"type": "integer"}},
            "near": {"type": "object", "properties": {"km": {"type": "number", "default": 2.5}, "of": {"type": ["string", "null"]}}, "required": ["km"]},
        }}}}]

# The keyword arguments of apply_chat_template that a template is tried with, one of these each time.
VARIABLES = {
    "qwen3": [{}, {"enable_thinking": False}, {"enable_thinking": True}],
    "qwen2.5": [{}, {"tools": TOOLS}],
    "smollm3": [{}, {"enable_thinking": False}, {"tools": TOOLS}, {"xml_tools": TOOLS, "enable_thinking": True}],
    "mistral-nemo": [{}, {"tools": TOOLS}, {"tools": TOOLS + TOOLS}],
    "gpt-oss": [{}, {"reasoning_effort": "high"}, {"tools": TOOLS}, {"model_identity": "You are \u00e9."}],
    "llama3.1": [{}, {"tools": TOOLS}, {"tools": TOOLS, "tools_in_user_message": False}, {"builtin_tools": ["code_interpreter", "search"]},
                 {"date_string": "1 Jan 2020"}],
    "llama3.2": [{}, {"date_string": "1 Jan 2020"}],
    "values": [{"tools": TOOLS}, {"tools": ["\u5929\U0001f600\x7f\x01\t'", 12, None, {"b": {"z": [], "a": {}}, "a": -1.5e-7}]}],
}
DATES = ["2024-07-26", "2025-11-03", "1999-02-28"]
