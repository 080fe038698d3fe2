# SPDX-License-Identifier: MIT
"""State dicts as torch.save writes them, and what torch.load reads from them, for torch_file_test.cpp.

    python3 make_torch_files.py [--count 200] [--out FOLDER]

Makes NNN.bin (pickle protocols 2 to 5 in turn) and expected.json: {file: {tensor: [dtype, shape, bytes in hexadecimal]}}.
Without arguments the few of tests/core/golden/torch_files. Needs torch (made with 2.11).
"""
import argparse
import collections
import json
import math
import pathlib
import random

import torch

DTYPES = {
    torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.int32: "I32",
    torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL", torch.complex64: "C64", torch.complex128: "C128",
    torch.uint16: "U16", torch.uint32: "U32", torch.uint64: "U64", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
    torch.float8_e4m3fnuz: "F8_E4M3FNUZ", torch.float8_e5m2fnuz: "F8_E5M2FNUZ", torch.float8_e8m0fnu: "F8_E8M0",
}
COMMON = [torch.float32, torch.float16, torch.bfloat16]


def raw(tensor):
    """Its elements' bytes, in order."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def random_tensor(generator, shape, dtype):
    if dtype == torch.bool:
        return torch.tensor([generator.random() < 0.5 for _ in range(math.prod(shape))], dtype=dtype).reshape(shape)
    size = math.prod(shape) * dtype.itemsize
    return torch.frombuffer(bytearray(generator.randbytes(size)) or bytearray(16), dtype=torch.uint8)[:size].view(dtype).reshape(shape).clone()


def plain(generator):
    dtype = generator.choice(list(DTYPES))
    return {"plain": random_tensor(generator, [generator.randint(1, 4) for _ in range(generator.randint(1, 4))], dtype)}


def shared(generator):
    whole = random_tensor(generator, (6, 4), generator.choice(COMMON))
    return {"embed.weight": whole, "lm_head.weight": whole, "rows": whole[2:5], "flat": whole.view(-1)[3:17], "alias": whole.view(2, 12)}


def strided(generator):
    whole = random_tensor(generator, (4, 6, 2), generator.choice(COMMON + [torch.int64, torch.complex64]))
    return {"transposed": whole.transpose(0, 1), "permuted": whole.permute(2, 0, 1), "steps": whole[::2, 1::3], "column": whole[:, 2, 1],
            "parts": whole.chunk(3, dim=1)[1]}


def overlapping(generator):
    row = random_tensor(generator, (9,), generator.choice(COMMON))
    return {"expanded": row.expand(3, 9), "windows": row.as_strided((3, 4), (2, 1), 1), "one": row[4:5].expand(2, 2), "diagonal": row.view(3, 3).diagonal()}


def small(generator):
    dtype = generator.choice(COMMON + [torch.int64, torch.bool])
    empty = torch.empty(0, dtype=dtype)
    return {"scalar": random_tensor(generator, (), dtype), "empty": empty, "none": torch.empty(3, 0, 2, dtype=dtype), "same": empty,
            "single": random_tensor(generator, (5, 1), dtype).t()}


def parameters(generator):
    parameter = torch.nn.Parameter(random_tensor(generator, (2, 3), torch.float32))
    marked = torch.nn.Parameter(random_tensor(generator, (2,), torch.float16), requires_grad=False)
    marked.note = "kept by torch alone"
    tensor = random_tensor(generator, (3,), torch.bfloat16)
    tensor.tag = {"a": 1}
    return {"parameter": parameter, "tied": parameter, "marked": marked, "tagged": tensor, "gradient": torch.ones(2, requires_grad=True)}


def others(generator):
    return {"step": generator.randint(0, 2**40), "negative": -generator.randint(1, 2**60), "name": "text \u00e9", "rate": 0.5, "nothing": None,
            "flags": [True, False], "shape": torch.Size((2, 3)), "dtype": torch.bfloat16, "nested": {"a": collections.OrderedDict(b=(1, 2, 3, 4))},
            "named \u00fc\u4e2d": random_tensor(generator, (2,), torch.float32)}


def module(generator):
    torch.manual_seed(generator.randint(0, 2**31))
    layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2), torch.nn.BatchNorm1d(2), torch.nn.Embedding(4, 2))
    return layers.to(generator.choice(COMMON)).state_dict()


KINDS = [plain, shared, strided, overlapping, small, parameters, others, module]


def make(index, folder):
    generator = random.Random(index)
    if index % 8 == 7:
        state = module(generator)  # with _metadata
    else:
        state = (collections.OrderedDict if index % 2 else dict)()
        for kind in generator.sample(KINDS, 2) + [KINDS[index % 8]]:
            state.update((f"{kind.__name__}.{name}", value) for name, value in kind(generator).items())
    path = folder / f"{index:03}.bin"
    torch.save(state, path, pickle_protocol=2 + index // 2 % 4)
    loaded = torch.load(path, weights_only=False)
    return path.name, {name: [DTYPES[t.dtype], list(t.shape), raw(t).hex()] for name, t in loaded.items() if isinstance(t, torch.Tensor)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parents[1] / "golden" / "torch_files")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    expected = dict(make(index, arguments.out) for index in range(arguments.count))
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(tensors)}" for name, tensors in expected.items())
    (arguments.out / "expected.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
