"""Formats that a pattern cannot describe, and documents in TOML."""

import schemathesis
from hypothesis import strategies as st

ACCOUNTS = [
    "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg",
    "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    "0x00000000000000000000000000000000000000AA",
]
CONSENSUS = ["paxvalcons17w0adeg64ky0daxwd2ugyuneellmjgnxqvaz32"]
OPERATORS = ["paxvaloper17w0adeg64ky0daxwd2ugyuneellmjgnx5lw7at"]

schemathesis.openapi.format("account-address", st.sampled_from(ACCOUNTS))
schemathesis.openapi.format("operator-address", st.sampled_from(OPERATORS))
schemathesis.openapi.format("consensus-address", st.sampled_from(CONSENSUS))
schemathesis.openapi.format("uint256", st.integers(min_value=0, max_value=2**256 - 1).map(str))

# Scenarios without effects, so that the other operations find the node unchanged, and invalid documents.
SCENARIOS = ['name = "Nothing"', 'name = "Wait"\nlasts = "10ms"', "", "name =", 'name = "Nothing"\nunknown = 1']

schemathesis.openapi.media_type("application/toml", st.sampled_from([document.encode() for document in SCENARIOS]))


@schemathesis.hook
def before_load_schema(_context, raw_schema):
    """Removes examples in TOML: for a media type with a strategy of its own, only bytes are accepted."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            operation.get("requestBody", {}).get("content", {}).get("application/toml", {}).pop("example", None)
