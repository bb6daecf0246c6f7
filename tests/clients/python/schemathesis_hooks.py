"""Formats with checksums, which a pattern cannot describe."""

import schemathesis
from hypothesis import strategies as st

ACCOUNTS = [
    "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg",
    "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    "0x00000000000000000000000000000000000000AA",
]
OPERATORS = ["paxvaloper17w0adeg64ky0daxwd2ugyuneellmjgnx5lw7at"]

schemathesis.openapi.format("account-address", st.sampled_from(ACCOUNTS))
schemathesis.openapi.format("operator-address", st.sampled_from(OPERATORS))
