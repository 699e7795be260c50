# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# unless_found.sh <file> <case> <command>...: prints the case's error from the file, which the compilation of all cases has
# written, or runs the command if there is none. A shell starts in a quarter of the time of CMake.
grep "^$2: " "$1" && exit 0
shift 2
exec "$@"
