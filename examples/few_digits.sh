#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# few_digits.sh DATA DIR: writes the first 700 of the digits in DATA, with the same names, for places too slow for all.
set -eu
mkdir -p "$2"
{
  printf '\000\000\010\003\000\000\002\274\000\000\000\010\000\000\000\010'
  tail -c +17 "$1/digits-images-idx3-ubyte" | head -c $((700 * 64))
} >"$2/digits-images-idx3-ubyte"
{
  printf '\000\000\010\001\000\000\002\274'
  tail -c +9 "$1/digits-labels-idx1-ubyte" | head -c 700
} >"$2/digits-labels-idx1-ubyte"
