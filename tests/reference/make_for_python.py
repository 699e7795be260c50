# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records the files of tests/io/files_for_python_test.cpp in for_python.txt, beside this file, if NumPy 2.4.6,
safetensors 0.8.0 and PyTorch 2.15.0 read their contents:

    DEVPLACE_TEST_FILES_FOR_PYTHON=FOLDER test_io "files for Python*"     writes them, and fails if they are others
    make_for_python.py FOLDER
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python"))
import files_for_python_test


def fnv1a(data):
    result = 0xCBF29CE484222325
    for byte in data:
        result = (result ^ byte) * 0x100000001B3 % 2**64
    return result


written = pathlib.Path(sys.argv[1])
for check, _ in files_for_python_test.CHECKS.values():
    check(written)
with open(HERE / "for_python.txt", "w") as record:
    for file in sorted(written.iterdir()):
        data = file.read_bytes()
        print(file.name, len(data), fnv1a(data), file=record)
