#!/bin/sh
# SPDX-License-Identifier: MIT
# over_ssh.sh PROGRAM TEST...: runs the tests of the window whose engine is reached by ssh: an sshd on
# the loopback, with throw-away keys. Exits with 77 where it cannot start.
set -eu
program=$(realpath "$1")
shift
sshd=$(command -v sshd || echo /usr/sbin/sshd)
if ! [ -x "$sshd" ] || ! command -v ssh >/dev/null || ! command -v ssh-keygen >/dev/null; then
  echo "skipped: there is no ssh or no sshd (Debian: openssh-client, openssh-server)"
  exit 77
fi
folder=$(mktemp -d)
cleanup() {
  if [ -f "$folder/pid" ]; then kill "$(cat "$folder/pid")" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT
ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
ssh-keygen -q -t ed25519 -N '' -f "$folder/user"
port=$((20000 + $$ % 20000))
cat >"$folder/config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $folder/host
PidFile $folder/pid
AuthorizedKeysFile $folder/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
AcceptEnv XDG_CACHE_HOME OMP_NUM_THREADS
END
mkdir -p /run/sshd 2>/dev/null || true
"$sshd" -f "$folder/config" -E "$folder/log" || true
ssh="ssh -T -q -p $port -i $folder/user -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
ssh="$ssh -o SendEnv=XDG_CACHE_HOME -o SendEnv=OMP_NUM_THREADS 127.0.0.1"
tries=0
until $ssh true 2>/dev/null; do
  tries=$((tries + 1))
  if [ $tries -ge 20 ]; then
    echo "skipped: no ssh to the loopback: $(tail -n 3 "$folder/log" 2>/dev/null)"
    exit 77
  fi
  sleep 0.2
done
export MIDSCOPE_TEST_REMOTE="$ssh $program"
status=0
for test in "$@"; do
  # The binary and, after a colon, its source.
  "${test%%:*}" "--source=${test#*:}" || { echo "failed over ssh: $test"; status=1; }
done
exit "$status"
