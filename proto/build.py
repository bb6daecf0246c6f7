"""Writes descriptors.binpb, the protobuf descriptors of the services that the node answers.

The Cosmos SDK's, CometBFT's and IBC's come from cosmpy, which publishes them in its package (Apache-2.0); those of chains
with an EVM, and some that differ in cosmpy, are compiled from the files in this directory. Usage, in any directory:

    python3 -m venv venv
    venv/bin/pip install grpcio-tools==1.85.1 googleapis-common-protos==1.76.0
    venv/bin/pip install --no-deps cosmpy==0.12.2
    venv/bin/python proto/build.py [--check]
"""

import importlib
import importlib.util
import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

HERE = Path(__file__).parent
OUT = HERE / "descriptors.binpb"
# cosmpy's messages import each other from this directory.
sys.path.insert(0, str(Path(importlib.util.find_spec("cosmpy").origin).parent / "protos"))

FILES = """
    cosmos.auth.v1beta1.query cosmos.authz.v1beta1.query cosmos.bank.v1beta1.query cosmos.bank.v1beta1.tx
    cosmos.base.node.v1beta1.query cosmos.base.tendermint.v1beta1.query cosmos.consensus.v1.query
    cosmos.crypto.ed25519.keys cosmos.crypto.multisig.keys cosmos.crypto.secp256k1.keys
    cosmos.distribution.v1beta1.query cosmos.evidence.v1beta1.query cosmos.feegrant.v1beta1.query cosmos.gov.v1.query
    cosmos.gov.v1beta1.query cosmos.params.v1beta1.query cosmos.slashing.v1beta1.query
    cosmos.staking.v1beta1.query cosmos.tx.v1beta1.service cosmos.upgrade.v1beta1.query ibc.core.channel.v1.query
    ibc.core.client.v1.query ibc.core.connection.v1.query
"""


def published():
    """The descriptors in cosmpy, each after those that it imports."""
    files, seen = descriptor_pb2.FileDescriptorSet(), set()

    def add(file):
        if file.name in seen:
            return
        seen.add(file.name)
        for imported in file.dependencies:
            add(imported)
        files.file.add().ParseFromString(file.serialized_pb)

    for name in FILES.split():
        add(importlib.import_module(f"{name}_pb2").DESCRIPTOR)
    return files


def compiled(imported):
    """All descriptors: `imported` and those of the files in this directory."""
    with tempfile.TemporaryDirectory() as folder:
        known, out = Path(folder) / "known", Path(folder) / "out"
        known.write_bytes(imported.SerializeToString())
        own = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.proto"))
        arguments = ["protoc", f"--descriptor_set_in={known}", f"-I{HERE}", f"--descriptor_set_out={out}", *own]
        if protoc.main(arguments) != 0:
            sys.exit(1)
        return imported.SerializeToString() + out.read_bytes()


descriptors = compiled(published())
if "--check" in sys.argv and OUT.read_bytes() != descriptors:
    sys.exit(f"{OUT} is not what build.py writes")
OUT.write_bytes(descriptors)
