"""Runs a command and prints its seconds and the most memory that it held, in bytes.

A process of its own, and a small one: Linux counts what the parent held when it started a child
among what the child held.
"""

from __future__ import annotations

import os
import sys
import time

QUIET = [(os.POSIX_SPAWN_OPEN, sys.stdout.fileno(), os.devnull, os.O_WRONLY, 0)]

begin = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=QUIET)
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - begin, used.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
