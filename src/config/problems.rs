//! Everything that is wrong with a file at once, for whoever edits it.

use std::{fs, path::Path};

use toml::{Table, Value};

use super::{Config, ConfigError, Values};

/// Settings that name files which have to be there before the node starts.
const FILES: [&str; 9] = [
    "genesis",
    "import",
    "exchange.upstream-ca-file",
    "tls.certificate-file",
    "tls.key-file",
    "keys.treasury-file",
    "keys.updater-file",
    "keys.keystore",
    "keys.password-file",
];

/// Tables whose settings mean nothing one by one.
const TOGETHER: [&str; 2] = ["tls", "fork"];

/// What is wrong with a configuration file, each problem once, in the order of the file; nothing if it can be used.
pub fn problems(path: &Path) -> Vec<ConfigError> {
    let file = path.display().to_string();
    let table: Table = match fs::read_to_string(path) {
        Err(error) => return vec![ConfigError::new(format!("config {file}: cannot be read: {error}"))],
        Ok(text) => match text.parse() {
            Err(error) => return vec![ConfigError::new(format!("config {file}: {error}"))],
            Ok(table) => table,
        },
    };
    let profile = table.get("profile").cloned();
    let (mut found, mut good) = (Vec::new(), Table::new());
    for (key, value) in table {
        let alone = |value| Table::from_iter([(key.clone(), value)]);
        match value {
            Value::Table(inner) if !TOGETHER.contains(&key.as_str()) => {
                for (name, value) in inner {
                    let single = alone(Value::Table(Table::from_iter([(name.clone(), value.clone())])));
                    if note(&mut found, check(single, profile.as_ref(), &file)) {
                        let section = good.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
                        section.as_table_mut().map(|section| section.insert(name, value));
                    }
                }
            }
            value => {
                if note(&mut found, check(alone(value.clone()), profile.as_ref(), &file)) {
                    good.insert(key, value);
                }
            }
        }
    }
    // What is right by itself may still contradict something else.
    note(&mut found, check(good, None, &file));
    found
}

/// Remembers a problem that is not known yet. Returns whether there was none.
fn note(found: &mut Vec<ConfigError>, result: Result<(), ConfigError>) -> bool {
    let problem = result.err();
    let none = problem.is_none();
    found.extend(problem.filter(|problem| !found.contains(problem)));
    none
}

/// Whether a part of a file can be used, in the file's own profile if that is one.
fn check(mut part: Table, profile: Option<&Value>, file: &str) -> Result<(), ConfigError> {
    let own = profile.filter(|value| matches!(value.as_str(), Some("development" | "production")));
    if let Some(own) = own
        && !part.contains_key("profile")
    {
        part.insert("profile".to_owned(), own.clone());
    }
    let mut values = Values::default();
    values.read_text(&part.to_string(), file)?;
    for name in FILES {
        let Some((value, origin)) = values.get(name) else { continue };
        let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for named in all.iter().filter_map(Value::as_str) {
            if let Err(error) = fs::File::open(named) {
                return Err(ConfigError::new(format!("{origin}: {named}: {error}")));
            }
        }
    }
    Config::from_values(&values).map(|_| ())
}
