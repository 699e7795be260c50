#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# conan.sh <source> <work> [install]: runs the `conan create` command of docs/install.md, which builds the package from
# the recipe and test_package against it. Conan is installed from PyPI into <work>/venv, everything else is written to
# <work>/home; no remote is queried for packages. Exits with 4 and the reason if Conan cannot be installed. With `install`
# only installs Conan.
set -eu
source=$1 work=$2
mkdir -p "$work"
skip() {
  echo "skipped: $1"
  exit 4
}

command=$(sed -n 's/^| Conan 2 | `\(conan create [^`]*\)`.*/\1/p' "$source/docs/install.md")
reference=$(sed -n 's/^| Conan 2 |.*`\(devplace\/[0-9.]*\)` among the requirements.*/\1/p' "$source/docs/install.md")
[ -n "$command" ] && [ -n "$reference" ] || {
  echo "docs/install.md has no row '| Conan 2 | \`conan create ...\`, then \`devplace/<version>\` among the requirements'."
  exit 1
}

conan=$work/venv/bin/conan
if ! "$conan" --version >/dev/null 2>&1; then
  rm -rf "$work/venv"
  command -v python3 >/dev/null || skip "python3, which Conan needs, is not installed"
  python3 -m venv "$work/venv" >"$work.log" 2>&1 || skip "python3 has no module venv (Debian: apt-get install python3-venv)"
  "$work/venv/bin/pip" install --quiet --timeout 20 --retries 2 'conan>=2,<3' >>"$work.log" 2>&1 ||
    skip "Conan cannot be installed from PyPI (see $work.log)"
fi

[ "${3:-}" != install ] || exit 0

export CONAN_HOME="$work/home"
rm -rf "$CONAN_HOME" "$work/test"
mkdir -p "$CONAN_HOME"
cat >"$CONAN_HOME/global.conf" <<CONF
tools.cmake.cmaketoolchain:generator=Ninja
tools.cmake.cmake_layout:test_folder=$work/test
CONF
"$conan" profile detect
"$conan" remote disable '*'
cd "$source"
PATH="$work/venv/bin:$PATH"
echo "$command"
$command
[ "$(find "$work/test" -name program -type f | wc -l)" -eq 1 ] || { echo "test_package was not built in $work/test."; exit 1; }
conan cache path "$reference"
