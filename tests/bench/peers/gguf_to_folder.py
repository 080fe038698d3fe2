# SPDX-License-Identifier: MIT
"""A GGUF model as a Hugging Face folder, dequantised: gguf_to_folder.py MODEL.gguf FOLDER [DTYPE]      (bfloat16)

transformers dequantises a GGUF when it opens it; done once here, that does not count into its peak memory."""
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

dtype = getattr(torch, sys.argv[3] if len(sys.argv) > 3 else "bfloat16")
path, name = os.path.split(sys.argv[1])
read = AutoModelForCausalLM.from_pretrained(path, gguf_file=name, dtype=dtype)
# transformers will not save what it knows to come from a GGUF, so the weights go into a fresh model.
if hasattr(read.config, "quantization_config"):
    del read.config.quantization_config
plain = AutoModelForCausalLM.from_config(read.config, dtype=dtype)
plain.load_state_dict(read.state_dict())
plain.save_pretrained(sys.argv[2])
AutoTokenizer.from_pretrained(path, gguf_file=name).save_pretrained(sys.argv[2])
