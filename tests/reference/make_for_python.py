# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the files of tests/io/files_for_python_test.cpp over to for_python/, beside this file, if NumPy 2.4.6,
safetensors 0.8.0 and PyTorch 2.15.0 read their contents:

    DEVPLACE_TEST_FILES_FOR_PYTHON=FOLDER test_io "files for Python*"     writes them, and fails if they are others
    make_for_python.py FOLDER
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python"))
import files_for_python_test

written = pathlib.Path(sys.argv[1])
for check, _ in files_for_python_test.CHECKS.values():
    check(written)
kept = HERE / "for_python"
shutil.rmtree(kept, ignore_errors=True)
kept.mkdir()
for file in sorted(written.iterdir()):
    shutil.copyfile(file, kept / file.name)
