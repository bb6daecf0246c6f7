//! The compiler's input in its standard JSON format, as users send it.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};
use tetrad_stdx::text::excerpt;

/// The most bytes of an input.
pub const MAX_INPUT: usize = 8 << 20;

/// The most files of an input.
const MAX_FILES: usize = 4_096;

/// The most bytes of its settings without those that only decide what is output: their values take
/// far more memory, and wait for a compiler.
const MAX_SETTINGS: usize = 64 << 10;

/// The languages of solc.
const LANGUAGES: [&str; 2] = ["Solidity", "Yul"];

/// The outputs that are requested of the compiler for each contract.
const OUTPUTS: [&str; 12] = [
    "abi",
    "metadata",
    "devdoc",
    "userdoc",
    "storageLayout",
    "evm.bytecode.object",
    "evm.bytecode.linkReferences",
    "evm.deployedBytecode.object",
    "evm.deployedBytecode.linkReferences",
    "evm.deployedBytecode.immutableReferences",
    "evm.deployedBytecode.sourceMap",
    "evm.bytecode.sourceMap",
];

/// The input: sources with their content, and the settings that code depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct StandardInput {
    /// `Solidity` or `Yul`.
    pub language: String,
    /// Contents by path.
    pub sources: BTreeMap<String, String>,
    /// The settings, without those that only decide what is output.
    pub settings: Map<String, Value>,
}

/// The contract of an input that is at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContractName {
    /// The path of its file; any if there is none.
    pub file: Option<String>,
    /// Its name; any if there is none.
    pub name: Option<String>,
}

impl ContractName {
    /// Reads `path:Name` or `Name`; an empty text names none.
    pub fn parse(text: &str) -> Self {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        match text.rsplit_once(':') {
            Some((file, name)) => Self {
                file: some(file),
                name: some(name),
            },
            None => Self {
                file: None,
                name: some(text),
            },
        }
    }

    /// Returns whether the name is that of a contract.
    pub(super) fn is(&self, file: &str, name: &str) -> bool {
        self.file.as_deref().is_none_or(|own| own == file)
            && self.name.as_deref().is_none_or(|own| own == name)
    }
}

/// The input as users send it.
#[derive(Deserialize)]
struct RawInput<'a> {
    language: Option<String>,
    sources: Option<BTreeMap<String, RawSource>>,
    #[serde(borrow)]
    settings: Option<BTreeMap<String, &'a RawValue>>,
}

#[derive(Deserialize)]
struct RawSource {
    content: Option<String>,
    urls: Option<IgnoredAny>,
}

impl StandardInput {
    /// Reads an input. An error names the member that is wrong.
    pub fn parse(json: &str) -> Result<Self, String> {
        if json.len() > MAX_INPUT {
            return Err(format!(
                "the standard JSON input has more than {MAX_INPUT} bytes"
            ));
        }

        let raw: RawInput =
            serde_json::from_str(json).map_err(|error| format!("standard JSON input: {error}"))?;

        let language = raw.language.unwrap_or_else(|| LANGUAGES[0].to_owned());
        if !LANGUAGES.contains(&language.as_str()) {
            return Err(format!(
                "language: expected Solidity or Yul, got {:?}",
                short(&language)
            ));
        }

        let raw_sources = raw
            .sources
            .filter(|sources| !sources.is_empty())
            .ok_or("sources: there are none")?;
        let sources = read_sources(raw_sources)?;
        let settings = read_settings(raw.settings.unwrap_or_default())?;

        Ok(Self {
            language,
            sources,
            settings,
        })
    }

    /// Returns the input as users send it, without an output selection.
    pub fn to_json(&self) -> Value {
        let sources: Map<_, _> = self
            .sources
            .iter()
            .map(|(path, content)| (path.clone(), json!({ "content": content })))
            .collect();
        json!({ "language": self.language, "sources": sources, "settings": self.settings })
    }

    /// Returns the compiler's input, for those contracts alone that the name may mean.
    pub(super) fn for_compiler(&self, contract: &ContractName) -> Value {
        let file = contract.file.as_deref().unwrap_or("*");
        let name = contract.name.as_deref().unwrap_or("*");
        let mut input = self.to_json();
        input["settings"]["outputSelection"] = json!({ file: { name: OUTPUTS } });
        input
    }
}

fn read_sources(raw: BTreeMap<String, RawSource>) -> Result<BTreeMap<String, String>, String> {
    if raw.len() > MAX_FILES {
        return Err(format!("sources: more than {MAX_FILES} files"));
    }

    let mut sources = BTreeMap::new();
    for (path, source) in raw {
        // The compiler would read them from this machine.
        if source.urls.is_some() {
            return Err(format!(
                "sources.{:?}: urls are not read; send the content",
                short(&path)
            ));
        }
        let content = source
            .content
            .ok_or_else(|| format!("sources.{:?}: content is missing", short(&path)))?;
        sources.insert(path, content);
    }
    Ok(sources)
}

fn read_settings(mut raw: BTreeMap<String, &RawValue>) -> Result<Map<String, Value>, String> {
    // They have no effect on code: one says what is output, one stops before it, and one runs
    // other programs.
    for other in ["outputSelection", "stopAfter", "modelChecker"] {
        raw.remove(other);
    }

    let length: usize = raw
        .iter()
        .map(|(name, value)| name.len() + value.get().len())
        .sum();
    if length > MAX_SETTINGS {
        return Err(format!("settings: more than {MAX_SETTINGS} bytes"));
    }

    let mut settings = Map::new();
    for (name, value) in raw {
        let value = serde_json::from_str(value.get())
            .map_err(|error| format!("standard JSON input: settings: {error}"))?;
        settings.insert(name, value);
    }
    Ok(settings)
}

/// Cuts a text of a request for a message.
fn short(text: &str) -> &str {
    excerpt(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(input: Value) -> String {
        StandardInput::parse(&input.to_string()).unwrap_err()
    }

    fn contract_name(file: Option<&str>, name: Option<&str>) -> ContractName {
        ContractName {
            file: file.map(str::to_owned),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn only_contents_count() {
        let sources = json!({ "a.sol": { "content": "contract A {}", "keccak256": "0x00" } });
        let settings = json!({ "outputSelection": { "*": { "*": ["*"] } }, "viaIR": true, "stopAfter": "parsing" });
        let input = json!({ "language": "Solidity", "sources": sources, "settings": settings });
        let input = StandardInput::parse(&input.to_string()).unwrap();

        assert_eq!(
            Value::Object(input.settings.clone()),
            json!({ "viaIR": true })
        );

        let asked = input.for_compiler(&ContractName::parse("a.sol:A"));
        assert_eq!(
            asked["settings"]["outputSelection"],
            json!({ "a.sol": { "A": OUTPUTS } })
        );
        assert_eq!(
            asked["sources"],
            json!({ "a.sol": { "content": "contract A {}" } })
        );

        let asked = input.for_compiler(&ContractName::parse(""));
        assert_eq!(
            asked["settings"]["outputSelection"],
            json!({ "*": { "*": OUTPUTS } })
        );
    }

    #[test]
    fn settings_are_limited_without_what_is_left_out() {
        let many: Vec<_> = (0..20_000).map(|index| json!({ "": index })).collect();
        let input =
            |settings| json!({ "sources": { "a.sol": { "content": "" } }, "settings": settings });
        assert_eq!(
            refusal(input(json!({ "libraries": many }))),
            "settings: more than 65536 bytes"
        );
        assert!(
            StandardInput::parse(&input(json!({ "outputSelection": many })).to_string()).is_ok()
        );
    }

    #[test]
    fn a_refusal_names_the_member() {
        let of = |source: Value| refusal(json!({ "sources": { "/etc/passwd": source } }));

        assert_eq!(
            of(json!({ "urls": ["/etc/passwd"] })),
            "sources.\"/etc/passwd\": urls are not read; send the content"
        );
        assert!(of(json!({ "urls": ["/etc/passwd"], "content": "" })).contains("urls"));
        assert_eq!(of(json!({})), "sources.\"/etc/passwd\": content is missing");

        assert_eq!(refusal(json!({ "sources": {} })), "sources: there are none");
        assert!(refusal(json!({ "language": "Vyper", "sources": {} })).starts_with("language: "));
        assert!(refusal(json!([])).starts_with("standard JSON input: "));

        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(StandardInput::parse(&deep).is_err());
        let deep = format!(
            r#"{{"sources":{{"a.sol":{{"content":""}}}},"settings":{{"a":{}}}}}"#,
            &deep[99_800..100_200]
        );
        assert!(
            StandardInput::parse(&deep)
                .unwrap_err()
                .contains("recursion limit")
        );
    }

    #[test]
    fn names_have_a_file_or_none() {
        assert_eq!(
            ContractName::parse("src/A.sol:A"),
            contract_name(Some("src/A.sol"), Some("A"))
        );
        assert_eq!(
            ContractName::parse("npm:x/A.sol:A"),
            contract_name(Some("npm:x/A.sol"), Some("A"))
        );
        assert_eq!(ContractName::parse("A"), contract_name(None, Some("A")));
        assert_eq!(ContractName::parse(""), contract_name(None, None));
    }
}
