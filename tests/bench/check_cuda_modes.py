#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`./midscope test --cuda` and `bench --cuda` where there is no GPU, and the report of the latter from planted programs.

    check_cuda_modes.py LAUNCHER

nvidia-smi and device_bench are stand-ins, so that the result is the same on machines with and without a GPU.
"""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

LAUNCHER = pathlib.Path(sys.argv.pop(1)).resolve()
NO_GPU = "echo 'No devices were found' >&2; exit 6"
GPU = """case "$1" in -L) echo 'GPU 0: Planted GPU (UUID: x)' ;; *) echo 'Planted GPU, 580.1, 81559, 80000' ;; esac"""
LINE = ('{"tokens": %d, "plain_ms": %d, "captures_ms": 2, "ms_poe_ms": 3, "token_ms": 4, "what_if_channel_ms": 5, '
        '"what_if_ms_poe_last_row_ms": 6, "taken_bytes": 7000000000}')
DEVICE = '{"device": "cuda:0", "name": "Planted GPU", "compute_capability": "9.0", "total_bytes": 85000000000, "free_bytes": 84000000000}'


class CudaModes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "bin").mkdir()
        self.stand_in("bin/run_bench", "exit 1")

    def tearDown(self):
        self.folder.cleanup()

    def stand_in(self, name, script):
        path = self.root / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_launcher(self, *arguments, nvidia_smi=NO_GPU):
        self.stand_in("nvidia-smi", nvidia_smi)
        environment = {**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.root / "cache"),
                       "MIDSCOPE_BUILD": str(self.root)}
        return subprocess.run([str(LAUNCHER), *arguments], capture_output=True, text=True, env=environment, timeout=60)

    def bench(self, script, *more):
        self.stand_in("bin/device_bench", script)
        return self.run_launcher("bench", "--cuda", "--models", "embedded", "--tokens", "512,2048", *more, nvidia_smi=GPU)

    def test_without_a_gpu_both_say_so_and_what_to_do(self):
        for arguments in (["test", "--cuda"], ["bench", "--cuda"], ["bench", "--cuda", "--json"], ["bench", "--json", "--cuda"]):
            done = self.run_launcher(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertIn(f"midscope: {arguments[0]} --cuda: this machine has no NVIDIA GPU", done.stderr)
            self.assertIn("nvidia-smi finds none", done.stderr)
            self.assertIn(f"`./midscope {arguments[0]}` needs none", done.stderr)
            self.assertFalse((self.root / "cache").exists(), "nothing was fetched")

    def test_help_needs_neither_gpu_nor_build(self):
        for arguments in (["test", "--help"], ["test", "--cuda", "--help"], ["bench", "--help"], ["bench", "--cuda", "--help"]):
            (self.root / "bin" / "run_bench").unlink(missing_ok=True)
            done = self.run_launcher(*arguments)
            self.assertEqual(done.returncode, 0, arguments)
            self.assertIn("--cuda", done.stdout)

    def test_unknown_words_are_refused(self):
        done = self.run_launcher("test", "--gpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--gpu is not known", done.stderr)
        done = self.run_launcher("bench", "--cuda", "--models", "13b", nvidia_smi=GPU)
        self.assertEqual(done.returncode, 2)
        self.assertIn("13b is not known; there are embedded, 7b, 7b-64, 8b", done.stderr)

    def test_a_bench_that_is_not_built_is_refused(self):
        (self.root / "bin" / "run_bench").unlink()
        done = self.run_launcher("bench", "--cuda", nvidia_smi=GPU)
        self.assertEqual(done.returncode, 1)
        self.assertIn("MIDSCOPE_CUDA=ON ./midscope build", done.stderr)

    def test_the_report_names_gpu_driver_and_memory(self):
        # The second round is faster at one length.
        script = f"""echo "$@" >> {self.root}/calls; n=$(wc -l < {self.root}/calls)
echo '{DEVICE}'; [ $n -le 2 ] && echo '{LINE % (512, 10)}' || echo '{LINE % (512, 8)}'; echo '{LINE % (2048, 20)}'"""
        done = self.bench(script, "--json", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["gpu"], {"name": "Planted GPU", "driver": "580.1", "total_mib": 81559, "free_mib": 80000})
        model, = report["models"]
        self.assertEqual(model["device"]["compute_capability"], "9.0")
        self.assertEqual(model["midscope"]["512"]["plain_ms"], 8)
        self.assertEqual(model["midscope"]["2048"]["plain_ms"], 20)
        self.assertEqual((self.root / "calls").read_text().splitlines(),
                         ["cuda:0 embedded bfloat16 expanded 512 2048", "cuda:0 embedded bfloat16 stored decode 512 2048"] * 2)

    def test_the_table_has_a_column_per_length(self):
        done = self.bench(f"echo '{DEVICE}'; echo '{LINE % (512, 10)}'; echo '{LINE % (2048, 20)}'", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Planted GPU, driver 580.1, 81559 MiB of memory, 80000 free", done.stdout)
        self.assertRegex(done.stdout, r"embedded, bfloat16, ms +512 +2,048\n")
        self.assertRegex(done.stdout, r"midscope, plain +10\.0 +20\.0\n")
        self.assertRegex(done.stdout, r"memory taken on the GPU, GB +7\.0 +7\.0\n")

    def test_a_large_shape_stands_beside_its_peers(self):
        bench = self.root / "cache" / "midscope" / "bench"
        for peer, line in (("transformers", '{"tokens": 512, "plain_ms": 77}'), ("llama_cuda", '{"tokens": 512, "plain_ms": 88, "token_ms": 9}')):
            (bench / peer / "bin").mkdir(parents=True)
            (bench / peer / "complete").touch()
            self.stand_in(f"cache/midscope/bench/{peer}/bin/python", f"echo \"$@\" >> {self.root}/calls; echo '{line}'")
        (bench / "random-7b-Q4_0.gguf").touch()
        self.stand_in("bin/device_bench", f"echo '{DEVICE}'; echo '{LINE % (512, 10)}'")
        self.stand_in("bin/device_attention_bench", f"""echo "$@" >> {self.root}/calls; echo '{{"tokens": 512, "equal_positions_tflops": 345.6}}'""")
        done = self.run_launcher("bench", "--cuda", "--models", "7b", "--tokens", "512", "--rounds", "1", "--peers", nvidia_smi=GPU)
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in ("transformers, SDPA, no captures +77.0", "llama.cpp, weights as stored, plain +88.0", "llama.cpp, a token after the prompt +9.0",
                    "midscope, weights as stored, plain +10.0", "attention alone, TFLOP/s +345.6", "a token after the prompt +4.0"):
            self.assertRegex(done.stdout, row)
        calls = (self.root / "calls").read_text().splitlines()
        self.assertEqual(calls[0], "cuda:0 bfloat16 32 32 128 512")
        self.assertRegex(calls[1], "transformers_device.py 7b cuda:0 512$")
        self.assertRegex(calls[2], "llama_device.py .*/random-7b-Q4_0.gguf 512$")
        self.assertIn("bench: 7b, llama_cuda, round 1 of 1", done.stderr)

    def test_llama_cpp_is_compiled_anew_for_each_class(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import bench
        calls = []

        def run(command, **options):
            calls.append(([str(word) for word in command], options.get("env", {})))
            return subprocess.CompletedProcess(command, 0, "", "")

        with mock.patch.object(bench, "CACHE", self.root), mock.patch.object(bench.subprocess, "run", run):
            for peer in ("llama_native", "llama_avx2"):
                (self.root / "bench" / peer).mkdir(parents=True)
                bench.python_of(peer)
        installs = [(words, env["CMAKE_ARGS"]) for words, env in calls if "pip" in words]
        self.assertEqual([arguments for _, arguments in installs], [bench.LLAMA["native"], bench.LLAMA["avx2"]])
        for words, _ in installs:
            self.assertIn("--no-cache-dir", words, "pip would take what another class compiled")

    def test_a_peer_of_the_cpu_is_refused(self):
        done = self.bench("exit 1", "--peers", "openvino")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--peers: openvino is not known; there are transformers, llama_cuda", done.stderr)

    def test_a_length_that_does_not_run_leaves_the_others(self):
        done = self.bench(f"echo '{DEVICE}'; echo '{LINE % (512, 10)}'; echo 'device_bench: device cuda:0: too small' >&2; exit 1",
                          "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"midscope, plain +10\.0 *\n")
        self.assertIn("midscope: not measured after 1 of 2 lengths: device_bench: device cuda:0: too small", done.stdout)

    def test_nothing_measured_is_a_failure(self):
        done = self.bench("echo 'device_bench: no driver' >&2; exit 1", "--rounds", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing could be measured", done.stderr)
        self.assertIn("no driver", done.stderr)


if __name__ == "__main__":
    unittest.main()
