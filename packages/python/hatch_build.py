"""Adds the binary to the wheel, and tags the wheel with the platforms that the binary runs on."""

import platform
import re
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BinaryHook(BuildHookInterface):
    def initialize(self, version, build_data):
        binary = Path(self.root, "bin/tetrad")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(binary.read_bytes())}"
        build_data["shared_scripts"] = {str(binary): "tetrad"}


def platform_tag(binary: bytes) -> str:
    if sys.platform == "darwin":
        # The deployment target of Rust, which the release workflow sets for the C code as well.
        return f"macosx_11_0_{platform.machine()}"
    # The newest version of glibc whose symbols are linked (PEP 600).
    minor = max(int(found) for found in re.findall(rb"GLIBC_2\.(\d+)", binary))
    return f"manylinux_2_{minor}_{platform.machine()}"
