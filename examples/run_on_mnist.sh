# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run_on_mnist.sh <program> [argument]...: tests an example with the real MNIST.
if [ -z "$DEVPLACE_TEST_MNIST" ]; then
  echo "skipped: DEVPLACE_TEST_MNIST does not name a folder with MNIST"
  exit 4
fi
program=$1
shift
exec "$program" --data "$DEVPLACE_TEST_MNIST" "$@"
