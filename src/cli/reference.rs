//! What the program knows about itself, for documentation and shells.

use std::io::{self, Write};

use crate::config::{Config, Kind, Profile, SETTINGS, Setting};

/// Every setting with its names, what it takes and its defaults, as a page of Markdown.
pub(super) fn settings(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Settings\n")?;
    writeln!(out, "<!-- Written by `tetrad config reference`; a test compares it with the program. -->\n")?;
    writeln!(
        out,
        "Every setting is a key of the configuration file, an environment variable and a flag. Flags win over the \
         environment, the environment over the file, the file over the profile's defaults. `tetrad config` prints what \
         is in effect and where it comes from; `tetrad config check FILE` says everything that is wrong with a file."
    )?;
    let mut table = None;
    for setting in SETTINGS {
        let (section, _) = setting.name.split_once('.').unwrap_or_default();
        if table != Some(section) {
            match section {
                "" => writeln!(out, "\n## At the top of the file")?,
                section => writeln!(out, "\n## `[{section}]`")?,
            }
            table = Some(section);
        }
        describe(setting, out)?;
    }
    Ok(())
}

fn describe(setting: &Setting, out: &mut dyn Write) -> io::Result<()> {
    let key = setting.name.split_once('.').map_or(setting.name, |(_, key)| key);
    let kind = match setting.kind {
        Kind::Text => "text",
        Kind::Integer => "whole number",
        Kind::Number => "number",
        Kind::Switch => "true or false",
        Kind::List => "list of texts",
    };
    let default = |profile| Config::of(profile).value_of(setting.name);
    let shown = |value: Option<toml::Value>| value.map_or("none".to_owned(), |value| format!("`{value}`"));
    let (development, production) = (default(Profile::Development), default(Profile::Production));
    let defaults = if development == production {
        shown(development)
    } else {
        format!("{} (development), {} (production)", shown(development), shown(production))
    };
    let form = if setting.placeholder.is_empty() { String::new() } else { format!(", `{}`", setting.placeholder) };
    writeln!(out, "\n### `{key}`\n\n{}.\n", setting.help)?;
    writeln!(out, "- Takes: {kind}{form}")?;
    writeln!(out, "- Default: {defaults}")?;
    writeln!(out, "- Flag: `--{}`; environment: `{}`", setting.flag(), setting.variable())
}
