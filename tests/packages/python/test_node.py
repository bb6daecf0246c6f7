"""The interface of the Python package."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
import tetrad


def is_open(url: str) -> bool:
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    try:
        socket.create_connection((parts.hostname, parts.port)).close()
    except OSError:
        return False
    return True


def wait_until_closed(url: str) -> None:
    deadline = time.monotonic() + 30
    while is_open(url):
        assert time.monotonic() < deadline, f"{url} is still open"
        time.sleep(0.02)


def test_nodes_run_side_by_side_until_they_are_stopped() -> None:
    with tetrad.start() as one, tetrad.start("--chain-id", "229") as other:
        assert one.request("eth_chainId") == "0x7d"
        assert other.request("eth_chainId") == "0xe5"
        for url, scheme in [(one.rpc, "http"), (one.ws, "ws"), (one.rest, "http"), (one.exchange_ws, "ws")]:
            assert url.startswith(f"{scheme}://127.0.0.1:")
            assert is_open(url)
        os.kill(one.pid, 0)
    assert not is_open(one.rpc) and not is_open(other.rpc)
    one.stop()


def test_an_error_response_raises_with_its_code() -> None:
    with tetrad.start() as node:
        with pytest.raises(tetrad.RpcError) as raised:
            node.request("eth_nothing")
    assert raised.value.code == -32601 and raised.value.message


def test_flags_override_defaults_and_defaults_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TETRAD_LISTEN", "127.0.0.1:1")
    monkeypatch.setenv("TETRAD_ACCOUNTS", "4")
    with tetrad.start("--ws-listen", "off") as node:
        assert len(node.request("eth_accounts")) == 4
        assert node.exchange_ws.endswith("/ws")


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with tetrad.start() as node:
        assert node.request("eth_blockNumber") == "0x0"


def test_output_is_printed_on_demand(capfd: pytest.CaptureFixture[str]) -> None:
    tetrad.start().stop()
    assert capfd.readouterr().out == ""
    tetrad.start(verbose=True).stop()
    assert "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" in capfd.readouterr().out


def test_a_node_that_cannot_start_raises_its_own_message() -> None:
    with pytest.raises(tetrad.NodeError, match="^the node exited with code 1:\nerror: --block-time: .*`soon`"):
        tetrad.start("--block-time", "soon")
    with pytest.raises(tetrad.NodeError, match="(?s)^the node exited with code 127:\n.*/nowhere/tetrad"):
        tetrad.start(binary="/nowhere/tetrad")


def test_a_node_that_is_not_ready_in_time_raises() -> None:
    with pytest.raises(tetrad.NodeError, match="^the node was not ready within 0.1 seconds$"):
        tetrad.start("600", binary="/bin/sleep", timeout=0.1)


def test_stopping_a_node_that_was_killed_raises() -> None:
    node = tetrad.start()
    os.kill(node.pid, signal.SIGKILL)
    with pytest.raises(tetrad.NodeError, match="^the node was ended by signal 9$"):
        node.stop()


@pytest.mark.parametrize("rest", ["", "os._exit(7)", "os.kill(os.getpid(), 9)"])
def test_a_node_ends_with_the_test_process(rest: str) -> None:
    script = f"import os, tetrad; node = tetrad.start(); print(node.rest, flush=True); {rest}"
    output = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60).stdout
    wait_until_closed(output.strip())


def test_the_binary_is_the_installed_one() -> None:
    assert subprocess.check_output([tetrad.binary(), "--version"], text=True).startswith("tetrad ")


def test_a_transfer_on_the_shared_node(tetrad_node: tetrad.Node) -> None:
    sender, recipient = tetrad_node.request("eth_accounts")[:2]
    tetrad_node.request("eth_sendTransaction", {"from": sender, "to": recipient, "value": "0x1"})
    assert tetrad_node.request("eth_blockNumber") == "0x1"


def test_the_next_test_finds_the_previous_state(tetrad_node: tetrad.Node, tetrad_session: tetrad.Node) -> None:
    assert tetrad_node is tetrad_session
    assert tetrad_node.request("eth_blockNumber") == "0x0"
