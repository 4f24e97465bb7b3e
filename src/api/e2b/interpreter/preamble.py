# SPDX-License-Identifier: Apache-2.0
"""Serves code-interpreter contexts inside a sandbox, over stdin and stdout.

One single-threaded loop stands between the host and one child process per context. It is also
the zygote: IPython and matplotlib are imported here once, and a Python context is a fork.

  host -> stdin    one JSON object per line: setup, execute, create, list, restart, remove, interrupt
  stdout -> host   "ID event JSON", "ID done JSON", "ID failed STATUS TEXT", and once "0 ready {}"

A child has /dev/null as stdin, pipes as stdout and stderr, and two more pipes: cells come in on
one, and on the other it answers "e JSON" for each event and "d N" at the end of a cell.
"""
import ast
import base64
import builtins
import codecs
import collections
import fcntl
import gc
import heapq
import io
import json
import linecache
import os
import random
import re
import selectors
import shlex
import shutil
import signal
import site
import stat
import struct
import sys
import termios
import threading
import time
import traceback
import types
import uuid
import warnings

EVENT_LIMIT = 16 << 20      # bytes of one event: a longer one is cut to words
PIPE_READ = 1 << 16
CONGESTED = 1 << 20         # unsent bytes above which no child is read
RELIEVED = 1 << 18          # and below which they are read again
GATHER_SECONDS = 0.010      # output waits so long for more of it, or for the cell's end
GATHER_BYTES = 1 << 15
INTERRUPT_AGAIN = 0.5       # a signal that came just before the cell is lost, so it is repeated
INTERRUPT_GRACE = 2.0
CELLS_FD, ANSWERS_FD = 3, 4
BASH_ANSWERS_FD = 60        # out of the way of scripts that open descriptors by number
FIGURES_BACKEND = "module://cordon_figures"
MAX_POINTS = 50000          # a chart with more is sent as a picture only

ALIASES = {"js": "javascript", "python3": "python", "py": "python", "sh": "bash", "ts": "typescript"}


def log(text):
    sys.stderr.write("interpreter: %s\n" % text)
    sys.stderr.flush()
