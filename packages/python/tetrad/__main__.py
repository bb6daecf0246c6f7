"""Runs the binary: ``python -m tetrad``."""

import os
import sys

from tetrad import binary

path = binary()
os.execv(path, [path, *sys.argv[1:]])
