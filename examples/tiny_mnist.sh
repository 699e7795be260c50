#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# tiny_mnist.sh DIR: writes a test data set with MNIST's file names and image size: 200 training and 50 test images.
# Class c is a bright bar of eight rows that begins at row 2c.
set -eu
export LC_ALL=C
mkdir -p "$1"

ten_images() {
  for class in 0 1 2 3 4 5 6 7 8 9; do
    head -c $((class * 2 * 28)) /dev/zero
    head -c $((8 * 28)) /dev/zero | tr '\000' '\377'
    head -c $(((20 - class * 2) * 28)) /dev/zero
  done
}

# write_part NAME COUNT COUNT_IN_OCTAL
write_part() {
  { printf '\000\000\010\003\000\000\000\'"$3"'\000\000\000\034\000\000\000\034'
    for _ in $(seq $(($2 / 10))); do ten_images; done; } >"$folder/$1-images-idx3-ubyte"
  { printf '\000\000\010\001\000\000\000\'"$3"
    for _ in $(seq $(($2 / 10))); do printf '\000\001\002\003\004\005\006\007\010\011'; done
  } >"$folder/$1-labels-idx1-ubyte"
}

folder=$1
write_part train 200 310
write_part t10k 50 062
