//! The documentation of all settings: the page of the book, and the files in `config/`.

use std::io::{self, Write};

use toml::Value;

use crate::config::{Config, Kind, Profile, SECTIONS, Setting};

/// The width of lines in the files.
const WIDTH: usize = 120;

/// Writes every setting with its names, its type and its defaults, as a page of Markdown.
pub(super) fn page(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Settings\n")?;
    writeln!(
        out,
        "<!-- Written by `tetrad config reference`; a test compares it with the program. -->\n"
    )?;
    writeln!(
        out,
        "Every setting is a key of the configuration file, an environment variable and a flag. Flags win over the \
         environment, the environment over the file, the file over the profile's defaults. `tetrad config` prints what \
         is in effect and where it comes from; `tetrad config check FILE` lists everything that is wrong with a file."
    )?;

    for section in SECTIONS {
        match section.name {
            "" => writeln!(out, "\n## At the top of the file")?,
            name => writeln!(out, "\n## `[{name}]`")?,
        }
        if !section.about.is_empty() {
            writeln!(out, "\n{}", section.about)?;
        }
        for setting in section.settings {
            describe(setting, out)?;
        }
    }
    Ok(())
}

fn describe(setting: &Setting, out: &mut dyn Write) -> io::Result<()> {
    let default = |profile| setting.value(&Config::of(profile));
    let development = default(Profile::Development);
    let production = default(Profile::Production);
    let defaults = if development == production {
        shown(development)
    } else {
        format!(
            "{} (development), {} (production)",
            shown(development),
            shown(production)
        )
    };

    let kind = match setting.kind {
        Kind::Text => "text",
        Kind::Integer => "whole number",
        Kind::Number => "number",
        Kind::Switch => "true or false",
        Kind::List => "list of texts",
    };
    let form = if setting.placeholder.is_empty() {
        String::new()
    } else {
        format!(", `{}`", setting.placeholder)
    };

    writeln!(out, "\n### `{}`\n\n{}.\n", setting.key(), setting.help)?;
    if !setting.details.is_empty() {
        writeln!(out, "{}\n", setting.details)?;
    }
    writeln!(out, "- Takes: {kind}{form}")?;
    writeln!(out, "- Default: {defaults}")?;
    for (other, why) in setting.excludes {
        writeln!(out, "- Not with `{other}`: {why}")?;
    }

    let letter = setting.short.map(|letter| format!("`-{letter}`"));
    let others: Vec<_> = letter
        .into_iter()
        .chain(setting.aliases.iter().map(|alias| format!("`--{alias}`")))
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" or {}", others.join(" or "))
    };
    writeln!(
        out,
        "- Flag: `--{}`{others}; environment: `{}`",
        setting.flag(),
        setting.variable()
    )?;

    if let Some(name) = setting.former_name {
        writeln!(out, "- Former name, which still works: `{name}`")?;
    }
    Ok(())
}

fn shown(value: Option<Value>) -> String {
    value.map_or("none".to_owned(), |value| format!("`{value}`"))
}

/// Writes a configuration file that holds every setting with a profile's default.
pub(super) fn defaults(profile: Profile, out: &mut dyn Write) -> io::Result<()> {
    let (name, other) = match profile {
        Profile::Development => ("development", Profile::Production),
        Profile::Production => ("production", Profile::Development),
    };
    let config = Config::of(profile);
    let other = Config::of(other);

    writeln!(
        out,
        "# tetrad, {name} profile: every setting with its default.\n#"
    )?;
    comment(
        &format!(
            "Written by `tetrad config defaults {name}`. Start with `tetrad --config FILE`. Each setting is also a flag \
             (`--chain-id 229`) and an environment variable (`TETRAD_CHAIN_ID=229`); in a table the table's name comes \
             first (`--rpc-gas-cap`, `TETRAD_RPC_GAS_CAP`). Flags win over the environment, the environment over this \
             file. `tetrad config` prints what is in effect. What is commented out has no default. The other profile has \
             another default for what is marked (*)."
        ),
        out,
    )?;

    for section in SECTIONS {
        if !section.name.is_empty() {
            writeln!(out)?;
            comment(section.about, out)?;
            writeln!(out, "[{}]", section.name)?;
        }
        for setting in section.settings {
            let value = setting.value(&config);
            let mark = if value == setting.value(&other) {
                ""
            } else {
                "(*) "
            };
            writeln!(out)?;
            comment(&format!("{mark}{}.", setting.help), out)?;
            comment(setting.details, out)?;
            match value {
                Some(Value::Integer(number)) => {
                    writeln!(out, "{} = {}", setting.key(), grouped(number))?
                }
                Some(value) => writeln!(out, "{} = {value}", setting.key())?,
                None => writeln!(out, "# {} = {}", setting.key(), setting.example)?,
            }
        }
    }
    Ok(())
}

/// Writes each line of a text as a comment, wrapped.
fn comment(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in text.lines() {
        let mut wrapped = "#".to_owned();
        for word in line.split(' ') {
            if wrapped.chars().count() + 1 + word.chars().count() > WIDTH {
                writeln!(out, "{wrapped}")?;
                wrapped = if line.starts_with("- ") {
                    "#  ".to_owned()
                } else {
                    "#".to_owned()
                };
            }
            wrapped.push(' ');
            wrapped.push_str(word);
        }
        writeln!(out, "{wrapped}")?;
    }
    Ok(())
}

/// Separates groups of three digits in a number of at least five.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    if number < 10_000 {
        return digits;
    }

    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('_');
        }
        grouped.push(digit);
    }
    grouped
}
