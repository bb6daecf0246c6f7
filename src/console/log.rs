//! `console.log`, as Hardhat and Forge have it: a call to an address without code whose data is a
//! message.

use std::{collections::HashMap, sync::LazyLock};

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, Selector, address, keccak256};
use tetrad_contracts::sources::text::{MAX_MESSAGE, clean, plain};
use tetrad_stdx::text::excerpt;

use super::{Console, replay::ReplayedTransaction};

/// Address that messages are sent to: `console.log` in ASCII.
const ADDRESS: Address = address!("0x000000000000000000636F6e736F6c652e6c6f67");
/// Maximum number of messages shown per transaction.
const MAX_MESSAGES: usize = 500;

/// The parameters of every form of `log`, by selector.
static FORMS: LazyLock<HashMap<Selector, Vec<DynSolType>>> = LazyLock::new(|| {
    let mut forms = HashMap::new();
    let mut add = |name: &str, kinds: &[&str]| forms.extend(form(name, kinds));

    // Old versions of Hardhat's library hashed `uint` instead of `uint256`.
    for number in ["uint256", "uint", "int256", "int"] {
        let kinds = ["string", "bool", "address", number];
        let mut lists: Vec<Vec<&str>> = vec![Vec::new()];
        // The library's functions have up to four parameters.
        for _ in 0..4 {
            lists = lists
                .iter()
                .flat_map(|list| kinds.map(|kind| [list.as_slice(), &[kind]].concat()))
                .collect();
            for list in &lists {
                add("log", list);
            }
        }
    }

    add("log", &[]);
    add("log", &["bytes"]);
    for (name, kind) in [
        ("Int", "int256"),
        ("Uint", "uint256"),
        ("String", "string"),
        ("Bool", "bool"),
    ] {
        add(&format!("log{name}"), &[kind]);
    }
    for (name, kind) in [("Address", "address"), ("Bytes", "bytes")] {
        add(&format!("log{name}"), &[kind]);
    }
    for size in 1..=32 {
        add(&format!("logBytes{size}"), &[&format!("bytes{size}")]);
    }
    forms
});

/// The selector of a form of `log` and the types of its parameters.
fn form(name: &str, kinds: &[&str]) -> Option<(Selector, Vec<DynSolType>)> {
    let types = kinds
        .iter()
        .map(|kind| DynSolType::parse(kind).ok())
        .collect::<Option<Vec<_>>>()?;
    let hash = keccak256(format!("{name}({})", kinds.join(",")));
    let selector = hash.first_chunk::<4>()?;
    Some((Selector::from(*selector), types))
}

/// Appends a line for each message of a transaction, unless they are hidden.
pub(super) fn lines(console: &Console, seen: &ReplayedTransaction, out: &mut String) {
    if console.hides_logs {
        return;
    }

    let messages = seen
        .calls
        .iter()
        .filter(|node| node.trace.address == ADDRESS)
        .map(|node| message(&node.trace.data));
    for text in messages.take(MAX_MESSAGES) {
        for line in text.lines() {
            out.push_str("      ");
            out.push_str(&console.styles.log(line));
            out.push('\n');
        }
    }
}

/// Returns whether messages are sent to this address.
pub(super) fn is_console(address: Address) -> bool {
    address == ADDRESS
}

/// Returns the text of a message.
pub(super) fn message(data: &[u8]) -> String {
    let decoded = data.split_first_chunk::<4>().and_then(|(selector, rest)| {
        let types = FORMS.get(&Selector::from(*selector))?;
        let tuple = DynSolType::Tuple(types.clone())
            .abi_decode_params(&rest[..rest.len().min(4 * MAX_MESSAGE)])
            .ok()?;
        Some(format(tuple.as_tuple()?))
    });

    let text = decoded
        .unwrap_or_else(|| alloy_primitives::hex::encode_prefixed(&data[..data.len().min(64)]));
    // Line by line, since `clean` replaces line breaks.
    excerpt(&text, MAX_MESSAGE)
        .split('\n')
        .map(clean)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats values as Node's `util.format` does: `%s`, `%d` and the like in a first text are
/// replaced by the values that follow, and the rest is appended.
fn format(values: &[DynSolValue]) -> String {
    let Some((first, mut rest)) = values.split_first() else {
        return String::new();
    };
    let DynSolValue::String(pattern) = first else {
        return values.iter().map(plain).collect::<Vec<_>>().join(" ");
    };

    let mut text = String::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek().copied(), rest.split_first()) {
            ('%', Some('%'), _) => {
                letters.next();
                text.push('%');
            }
            ('%', Some('s' | 'd' | 'i' | 'o' | 'x' | 'e'), Some((value, others))) => {
                let hex = letters.next() == Some('x');
                match value {
                    DynSolValue::Uint(number, _) if hex => text += &format!("{number:#x}"),
                    value => text += &plain(value),
                }
                rest = others;
            }
            _ => text.push(letter),
        }
    }

    rest.iter()
        .fold(text, |text, value| text + " " + &plain(value))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;
    use alloy_sol_types::{SolCall, sol};

    use super::*;

    sol! {
        function log() external;
        function log(string text, uint256 number) external;
        function log(string text, address account, bool flag, string more) external;
        function log(int256 number) external;
    }

    fn two(text: &str, number: u64) -> Vec<u8> {
        log_1Call {
            text: text.to_owned(),
            number: U256::from(number),
        }
        .abi_encode()
    }

    #[test]
    fn messages_read_as_they_were_meant() {
        for (data, expected) in [
            (log_0Call {}.abi_encode(), ""),
            (two("storing", 42), "storing 42"),
            (two("storing %d now", 42), "storing 42 now"),
            (two("100%% of %x", 255), "100% of 0xff"),
            (two("%", 1), "% 1"),
            (two("a\u{1b}[31mb", 1), "a\u{fffd}[31mb 1"),
            (
                log_3Call {
                    number: "-5".parse().unwrap(),
                }
                .abi_encode(),
                "-5",
            ),
            (vec![1, 2, 3], "0x010203"),
        ] {
            assert_eq!(message(&data), expected);
        }
        let four = log_2Call {
            text: "to %s:".to_owned(),
            account: ADDRESS,
            flag: true,
            more: "done".to_owned(),
        }
        .abi_encode();
        assert_eq!(
            message(&four),
            "to 0x000000000000000000636F6e736F6c652e6c6f67: true done"
        );
    }
}
