#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `vector(FILE)` with llama.cpp's control vectors: the last row's logits of a GGUF model, with the directions of one
file applied to every row.

    python tests/core/make/compare_control_vector.py MIDSCOPE MODEL.gguf VECTOR.gguf [--scale 1] [--prompt TEXT]

Needs llama-cpp-python, numpy, gguf and h5py. The file is read as llama.cpp's common/ does: float32 tensors direction.N of one
axis, N >= 1, anything else is refused. llama.cpp adds direction N behind block N (counted from 0, as in its build_cvec).
"""

import argparse
import ctypes
import os
import subprocess
import tempfile

import gguf
import h5py
import llama_cpp
import numpy


def directions_of(path, hidden):
    reader = gguf.GGUFReader(path)
    found = {}
    for tensor in reader.tensors:
        name, _, layer = tensor.name.partition(".")
        if name != "direction":
            continue
        if int(layer) <= 0 or tensor.tensor_type != gguf.GGMLQuantizationType.F32 or len(tensor.shape) != 1:
            raise SystemExit(f"{path}: llama.cpp refuses {tensor.name}")
        if tensor.shape[0] != hidden:
            raise SystemExit(f"{path}: {tensor.name} has {tensor.shape[0]} numbers, the model {hidden}")
        found[int(layer)] = numpy.array(tensor.data, dtype=numpy.float32)
    if not found:
        raise SystemExit(f"{path}: no direction")
    return found


def llama_logits(model_path, ids, directions, scale):
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(model_path.encode(), llama_cpp.llama_model_default_params())
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = 512
    context = llama_cpp.llama_init_from_model(model, parameters)
    hidden = llama_cpp.llama_model_n_embd(model)
    layers = llama_cpp.llama_model_n_layer(model)
    if directions is not None:
        data = numpy.zeros((layers - 1, hidden), dtype=numpy.float32)
        for layer, values in directions_of(directions, hidden).items():
            if layer < layers:
                data[layer - 1] = scale * values
        apply = getattr(llama_cpp, "llama_set_adapter_cvec", None) or llama_cpp.llama_apply_adapter_cvec
        pointer = data.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if apply(context, pointer, data.size, hidden, 1, layers) != 0:
            raise SystemExit("llama.cpp refuses the vector")
    tokens = (ctypes.c_int32 * len(ids))(*ids)  # the batch points into it
    if llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(tokens, len(ids))) != 0:
        raise SystemExit("llama.cpp cannot run the prompt")
    vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    return numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), shape=(vocabulary,)).copy()


def midscope_run(program, model_path, text, setting):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "run.h5")
        subprocess.run([program, "probe", model_path, "--prompt", text, "--with", setting, "--probes", "last_logits", "--out", file],
                       check=True, capture_output=True)
        with h5py.File(file) as stored:
            ids = stored["entry/prompt/token_ids"][:].tolist()
            return ids, stored["entry/last_logits/last_logits"][:] if "entry/last_logits/last_logits" in stored else \
                stored["entry/last_logits_record/last_logits"][:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("midscope")
    parser.add_argument("model")
    parser.add_argument("vector")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--prompt", default="one two three four five six seven eight nine ten")
    options = parser.parse_args()
    setting = f"vector({options.vector}, scale={options.scale})"
    ids, plain = midscope_run(options.midscope, options.model, options.prompt, "none")
    _, changed = midscope_run(options.midscope, options.model, options.prompt, setting)
    peer_plain = llama_logits(options.model, ids, None, 1)
    peer_changed = llama_logits(options.model, ids, options.vector, options.scale)
    largest = numpy.abs(peer_changed).max()
    print(f"{len(ids)} tokens, largest logit {largest:.4g}")
    print(f"none: differs by {numpy.abs(plain - peer_plain).max() / largest:.2e} of it")
    print(f"{setting}: differs by {numpy.abs(changed - peer_changed).max() / largest:.2e} of it")
    print(f"the vector changes llama.cpp's logits by {numpy.abs(peer_changed - peer_plain).max() / largest:.2e}, "
          f"midscope's by {numpy.abs(changed - plain).max() / largest:.2e}")


if __name__ == "__main__":
    main()
