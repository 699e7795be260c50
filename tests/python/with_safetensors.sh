#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# with_safetensors.sh <python> <work> <argument>...: runs the interpreter with these arguments. If the package
# safetensors (half a megabyte) is missing, installs it from PyPI into <work>/venv, which also has the interpreter's
# other packages. Exits with 4 and the reason if that fails.
set -eu
python=$1 work=$2
shift 2
skip() {
  echo "skipped: $1"
  exit 4
}

"$python" -c 'import safetensors' 2>/dev/null && exec "$python" "$@"
own=$work/venv/bin/python
if ! "$own" -c 'import safetensors' 2>/dev/null; then
  rm -rf "$work/venv"
  mkdir -p "$work"
  "$python" -m venv --system-site-packages "$work/venv" >"$work/log" 2>&1 ||
    skip "$python has no package safetensors, and no module venv (Debian: apt-get install python3-venv)"
  "$own" -m pip install --quiet --no-deps --timeout 20 --retries 2 'safetensors==0.8.0' >>"$work/log" 2>&1 ||
    skip "safetensors cannot be installed from PyPI (see $work/log)"
fi
exec "$own" "$@"
