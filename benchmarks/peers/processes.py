# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Starts the processes of a peer as torchrun would."""

import os
import socket
import subprocess
import sys


def output_of_rank_0(processes, script, *arguments):
    """Runs the Python script in several processes and returns what rank 0 printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        variables = {"RANK": rank, "WORLD_SIZE": processes, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        environment = os.environ | {name: str(value) for name, value in variables.items()}
        command = [sys.executable, script, *(str(argument) for argument in arguments)]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    return [process.communicate()[0] for process in started][0]
