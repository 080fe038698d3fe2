# SPDX-License-Identifier: MIT
"""A model hub on this machine, well-behaved or not, for hub_fetch_test.cpp.

    python3 hub_server.py TINY_MODELS

Prints two ports: the hub's, and that of the server which large files are redirected to (as "localhost", another origin
than the hub's 127.0.0.1). A model org/NAME behaves as NAME says, see `files` and the handlers; /log tells what was
asked. Ends with the process that started it.
"""
import collections
import hashlib
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse

COMMIT = "c0ffee" + "0" * 34
TINY = pathlib.Path(sys.argv[1])
HOSTILE = {
    "hostile-parent": "../../evil.json", "hostile-root": "/tmp/evil.json", "hostile-inner": "a/../../evil.json",
    "hostile-backslash": "..\\evil.json", "hostile-newline": "a\nb.json", "hostile-dot": "./config.json", "hostile-empty": "a//b.json",
}
log = []
counts = collections.Counter()
ports = {}


def folder_files(model, skip=("expected.json",)):
    return {path.name: path.read_bytes() for path in sorted((TINY / model).iterdir()) if path.name not in skip}


def files(name):
    """name in the repository -> bytes."""
    if name == "sharded":
        return folder_files("olmo2")
    if name == "gguf":
        return {"quants/model.gguf": (TINY / "gguf-llama" / "model.gguf").read_bytes(), "config.json": b"{}", "README.md": b"text"}
    if name == "split":
        return {f"Q8/m-0000{i}-of-00003.gguf": b"GGUF" + bytes(100 * i) for i in (1, 2, 3)}
    if name == "half-split":
        return {"m-00001-of-00002.gguf": b"GGUF"}
    if name == "ggufs":
        return {"a-Q4_0.gguf": b"GGUF" + bytes(100), "b-Q8_0.gguf": b"GGUF" + bytes(200)}
    if name == "pickled":
        return {"config.json": b"{}", "consolidated.00.pth": b"PK\x03\x04", "sub/model.pt": b"PK\x03\x04"}
    if name == "torch-shards":
        index = {"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}
        return {"config.json": b"{}", "pytorch_model.bin.index.json": json.dumps(index).encode(), "training_args.bin": b"PK\x03\x04",
                "pytorch_model-00001-of-00002.bin": b"PK 1", "pytorch_model-00002-of-00002.bin": b"PK 2", "model-Q4_0.gguf": b"GGUF"}
    if name == "data-lines":
        return {"README.md": b"# text", "dataset_infos.json": b"{}", "test/a.jsonl": b'{"question": "a"}\n', "b.csv": b"a,b\n", "c.parquet": b"PAR1"}
    if name == "data-parquet":
        return {"README.md": b"# text", "data/test-00000.parquet": b"PAR1", "loader.py": b"import os"}
    if name == "data-zip":
        return {"data.zip": b"PK"}
    found = folder_files("qwen3")
    found |= {"README.md": b"# text", "pytorch_model.bin": b"PK\x03\x04 never", "optimizer.pt": b"PK\x03\x04 never", ".gitattributes": b"* text", "empty.txt": b""}
    if name in HOSTILE:
        found[HOSTILE[name]] = b"{}"
    return found


def tree(name):
    entries = []
    for path, data in files(name).items():
        entry = dict(type="file", path=path, size=len(data), oid=hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest())
        if path.endswith((".safetensors", ".gguf", ".bin")):
            entry["lfs"] = dict(oid=hashlib.sha256(data).hexdigest(), size=len(data), pointerSize=130)
        if name == "huge" and path == "model.safetensors":
            entry["lfs"]["size"] = entry["size"] = 10**14
        if name == "bad-digest":
            entry["oid"] = "../../../evil"
        entries.append(entry)
    return entries + [dict(type="directory", path="sub", size=0, oid="0" * 40)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/log":
            return self.answer(200, json.dumps(log).encode())
        server = "hub" if self.server.server_address[1] == ports["hub"] else "store"
        log.append(dict(server=server, path=url.path, token=self.headers.get("Authorization"), range=self.headers.get("Range")))
        parts = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")]
        try:
            if parts[:2] in (["api", "models"], ["api", "datasets"]):
                if (parts[1] == "datasets") != parts[3].startswith("data-"):
                    return self.answer(404, b"{}", X_Error_Code="RepoNotFound")
                return self.ask(parts[3], parts[4], parts[5], urllib.parse.parse_qs(url.query))
            if parts[0] == "datasets":
                parts = parts[1:]
            if parts[2] == "resolve":
                return self.resolve(parts[1], "/".join(parts[4:]))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def ask(self, name, question, revision, query):
        if name == "unknown":
            return self.answer(401, b"{}", X_Error_Code="RepoNotFound", X_Error_Message="Repository not found")
        if name == "gated":
            return self.answer(403, b"{}", X_Error_Code="GatedRepo", X_Error_Message="Access is restricted\x07")
        if name == "busy" and counts[name] < 2:
            counts[name] += 1
            return self.answer(503, Retry_After="0")
        if question == "revision":
            if revision not in ("main", "v1", "refs/pr/1", COMMIT):
                return self.answer(404, b"{}", X_Error_Code="RevisionNotFound")
            sha = "../../evil" if name == "bad-commit" else COMMIT
            return self.answer(200, json.dumps(dict(sha=sha)).encode())
        if name == "endless-list":
            return self.endless(b"[" + b" " * 65536)
        if name == "no-json":
            return self.answer(200, b"<html>")
        entries = tree(name)
        if name == "paged":
            page = int(query.get("cursor", ["0"])[0])
            more = {} if page >= len(entries) - 1 else {"Link": f'<http://127.0.0.1:{ports["hub"]}{self.path.split("?")[0]}?recursive=true&cursor={page + 1}>; rel="next"'}
            return self.answer(200, json.dumps(entries[page : page + 1]).encode(), **more)
        self.answer(200, json.dumps(entries).encode())

    def endless(self, piece):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(piece)

    def resolve(self, name, path):
        data = files(name)[path]
        on_hub = self.server.server_address[1] == ports["hub"]
        if path.endswith((".safetensors", ".gguf")) and on_hub:
            if name == "loop":
                return self.answer(302, Location=self.path)
            if name == "to-file":
                return self.answer(302, Location="file:///etc/hostname")
            if name == "no-file":
                return self.answer(404, X_Error_Code="EntryNotFound")
            return self.answer(302, b"moved", Location=f"http://localhost:{ports['store']}{self.path}?signature=x")
        if path.endswith((".safetensors", ".gguf")):
            return self.store(name, data)
        self.answer(200, data)

    def store(self, name, data):
        if name == "wrong-hash":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if name == "endless":
            return self.endless(data)
        if name == "short":
            return self.answer(200, data[:-7])
        start = 0
        wanted = self.headers.get("Range")
        if wanted and name != "no-range":
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
            shown = start + 1 if name == "wrong-part" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        counts[name] += 1
        if name == "slow":
            self.wfile.write(data[:1000])
            self.wfile.flush()
            time.sleep(60)
        cuts = name in ("cut", "no-range", "wrong-part") and counts[name] == 1
        self.wfile.write(data[start : start + 20000] if cuts else data[start:])
        if cuts or name == "slow":
            self.close_connection = True


if __name__ == "__main__":
    parent = os.getppid()
    for which in ("hub", "store"):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        ports[which] = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(ports["hub"], ports["store"], flush=True)
    while os.getppid() == parent:
        time.sleep(0.2)
