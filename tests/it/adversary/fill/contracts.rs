//! Contracts with the largest logs, traces and names.

use alloy::primitives::{hex, keccak256};

/// A contract that emits as many logs as the second word of its input, of as many bytes as the
/// first word.
pub(super) const LOGGER: [u8; 23] = hex!("6020355b801560155760019003805f355fa16003565b00");

/// A contract that calls itself as often as its input demands, as does each of these calls, as long
/// as there is gas.
pub(super) const RECURSION: [u8; 30] =
    hex!("365f5f375f355b8015601c57600190035f5f365f5f305af1506006565b00");

/// The instruction that pushes a number onto the stack.
fn push3(number: u32) -> Vec<u8> {
    [&[0x62], &number.to_be_bytes()[1..]].concat()
}

/// A token whose name and symbol have this many characters. Without input it emits a transfer.
pub(super) fn token(characters: usize, text: &[u8]) -> Vec<u8> {
    let size = u32::try_from(characters).unwrap();
    let transfer = keccak256("Transfer(address,address,uint256)");

    let mut code = [
        &hex!("3660305760015f5230337f")[..],
        transfer.as_slice(),
        &hex!("60205fa3005b"),
    ]
    .concat();

    if !text.is_empty() {
        let copied = u16::try_from(text.len()).unwrap().to_be_bytes();
        // The text is preceded by 8 bytes here and 18 below.
        let at = u8::try_from(code.len() + 8 + 18).unwrap();
        code.extend([&[0x61], &copied[..], &[0x60, at, 0x60, 0x40, 0x39]].concat());
    }

    // MSTORE(0, 32), MSTORE(32, size), RETURN(0, size + 64).
    code.extend(
        [
            &hex!("60205f52")[..],
            &push3(size),
            &hex!("602052"),
            &push3(size + 64),
            &hex!("5ff3"),
        ]
        .concat(),
    );
    // The text follows a STOP.
    code.resize(code.len() + 1, 0);

    [code.as_slice(), text].concat()
}

/// The code that deploys a contract.
pub(super) fn deployment(runtime: &[u8]) -> Vec<u8> {
    let size = u16::try_from(runtime.len()).unwrap().to_be_bytes();

    // PUSH2 size, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN.
    [
        &[
            0x61, size[0], size[1], 0x80, 0x60, 10, 0x5f, 0x39, 0x5f, 0xf3,
        ],
        runtime,
    ]
    .concat()
}
