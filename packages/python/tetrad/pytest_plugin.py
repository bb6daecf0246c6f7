"""Fixtures for pytest, which finds them once the package is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tetrad import Node, NodeError, start


@pytest.fixture(scope="session")
def tetrad_args() -> list[str]:
    """Flags of the node. Override this fixture to set them."""
    return []


@pytest.fixture(scope="session")
def tetrad_session(tetrad_args: list[str]) -> Iterator[Node]:
    """A node that all tests share."""
    with start(*tetrad_args) as node:
        yield node


@pytest.fixture
def tetrad_node(tetrad_session: Node) -> Iterator[Node]:
    """The shared node, whose chain returns to its previous state after the test."""
    snapshot = tetrad_session.request("evm_snapshot")
    yield tetrad_session
    if not tetrad_session.request("evm_revert", snapshot):
        raise NodeError("the test reverted the node to a state before its own start")
