#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run_with_peers.sh SCRIPT.py ...: the script beside this with the interpreter in MIDSCOPE_PEERS_PYTHON; 77 (skipped, with the
# reason) without.
if [ -z "$MIDSCOPE_PEERS_PYTHON" ]; then
  echo "skipped: MIDSCOPE_PEERS_PYTHON names no Python; set it to one that has h5py (and xarray)"
  exit 77
fi
if ! "$MIDSCOPE_PEERS_PYTHON" -c 'import h5py'; then
  echo "skipped: $MIDSCOPE_PEERS_PYTHON can't import h5py"
  exit 77
fi
script=$1
shift
exec "$MIDSCOPE_PEERS_PYTHON" "$(dirname "$0")/$script" "$@"
