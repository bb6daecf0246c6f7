"""Starts tetrad nodes from tests: ``with tetrad.start() as node:``."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import tempfile
import time
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Optional

__all__ = ["Node", "NodeError", "RpcError", "binary", "start"]

# Settings of a node for tests. Flags override environment variables.
_DEFAULTS = {
    "TETRAD_LISTEN": "127.0.0.1:0",
    "TETRAD_WS_LISTEN": "127.0.0.1:0",
    "TETRAD_EXCHANGE_PRICE_TICK": "0",
}

# Replaces the shell by the node, after starting a process that stops the node when standard input ends without a line: the
# operating system closes that pipe when the test process ends, even if it is killed.
_GUARD = 'exec 3<&0 </dev/null; (read -r _ <&3 || kill -TERM $$) >/dev/null 2>&1 & exec 3<&-; exec "$@"'

# The node takes ten seconds at most to finish requests.
_STOP_TIMEOUT_SECONDS = 15.0


class NodeError(Exception):
    """A node that did not start, or did not end with code 0."""


class RpcError(Exception):
    """An error response of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Node:
    """A running node. As a context manager, it stops at the end of the block."""

    rpc: str
    """URL of JSON-RPC over HTTP."""
    ws: str
    """URL of JSON-RPC over WebSocket."""
    rest: str
    """Base URL of the REST interfaces."""
    exchange_ws: str
    """URL of the price WebSocket."""
    pid: int
    """Process id of the node."""

    def __init__(self, process: _Process, urls: dict[str, Any]) -> None:
        self._process: Optional[_Process] = process
        self.rpc = urls["rpc"]
        self.ws = urls["ws"]
        self.rest = urls["rest"]
        self.exchange_ws = urls["exchange_ws"]
        self.pid = urls["pid"]

    def request(self, method: str, *params: Any) -> Any:
        """Sends a JSON-RPC request and returns its result. Raises RpcError."""
        # Slow to import, while every run of pytest imports this module for its fixtures.
        import urllib.request

        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.rpc, body, {"content-type": "application/json"})
        without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with without_proxy.open(request) as response:
            answer = json.load(response)
        if "error" in answer:
            error = answer["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        return answer["result"]

    def stop(self) -> None:
        """Stops the node and waits until its process has ended. Raises NodeError if it did not end with code 0."""
        process, self._process = self._process, None
        failure = process.end() if process else None
        if failure:
            raise NodeError(f"the node {failure}")

    def __enter__(self) -> Node:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()


def start(*args: str, binary: Optional[str] = None, timeout: float = 30.0, verbose: bool = False) -> Node:
    """Starts a node with these flags and waits until it is ready.

    By default the node listens on free ports of 127.0.0.1, and prices do not move. With ``verbose`` it prints transactions,
    ``console.log`` and warnings on the test's own standard output. It is stopped when the process that started it ends, in
    whatever way. Raises NodeError, with the node's output, if it is not ready within ``timeout`` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="tetrad-") as folder:
        ready = Path(folder, "ready.json")
        process = _Process([binary or _binary(), *args], ready, verbose)
        try:
            deadline = time.monotonic() + timeout
            while not ready.exists():
                if process.has_ended():
                    raise NodeError(f"the node {process.end_reason()}")
                if time.monotonic() > deadline:
                    raise NodeError(f"the node was not ready within {timeout:g} seconds")
                time.sleep(0.01)
            return Node(process, json.loads(ready.read_text()))
        except BaseException:
            process.end()
            raise


def binary() -> str:
    """Returns the path of the binary that is installed with this package."""
    recorded = [file.locate() for file in metadata.files("tetrad") or [] if file.parts[-2:] == ("bin", "tetrad")]
    # `pip install --target` moves the binary without recording it.
    for path in [*recorded, Path(__file__).parent.parent / "bin" / "tetrad"]:
        if Path(path).is_file():
            return str(path)
    raise FileNotFoundError("the binary of tetrad is not installed beside its Python package: reinstall tetrad")


_binary = binary


class _Process:
    """The process of a node."""

    def __init__(self, command: list[str], ready: Path, verbose: bool) -> None:
        # A file, since a pipe that nobody reads would fill up and block the node.
        self._output: Optional[IO[bytes]] = None if verbose else tempfile.TemporaryFile()
        environment = {**os.environ, **_DEFAULTS, "TETRAD_READY_FILE": str(ready)}
        if not verbose:
            environment["TETRAD_QUIET"] = "true"
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "tetrad", *command],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=self._output,
            # Ctrl-C reaches the test process alone, which may still need the node.
            start_new_session=True,
        )
        atexit.register(self.end)

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end_reason(self) -> str:
        """Returns how the process ended, with its last output."""
        code = self._process.returncode
        reason = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        if self._output is None:
            return reason
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - 16_384))
        output = self._output.read().decode(errors="replace").strip()
        return f"{reason}:\n{output}\n" if output else reason

    def end(self) -> Optional[str]:
        """Ends the process and its guard. Returns the reason if the process did not end with code 0."""
        atexit.unregister(self.end)
        self._process.terminate()
        try:
            self._process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # The guard has gone if it was killed.
        with contextlib.suppress(OSError):
            self._process.communicate(b"\n")
        failure = self.end_reason() if self._process.returncode else None
        if self._output:
            self._output.close()
        return failure
