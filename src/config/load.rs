//! From values to a configuration, or to everything that is wrong with them.

use std::{fs, path::Path};

use toml::Value;

use super::{
    given::{ConfigError, Given},
    layers::Values,
    node::Config,
    setting::Setting,
    settings::settings,
};

impl Config {
    /// Checks values and puts them over the defaults of the profile they name.
    pub fn from_values(values: &Values) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let config = load(values, &mut problems);
        problems.into_iter().next().map_or(Ok(config), Err)
    }

    /// Puts values over the defaults of the profile they name, for a command that starts no node:
    /// they need not make one.
    pub fn of_command(values: &Values) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let config = read(values, &mut problems);
        problems.into_iter().next().map_or(Ok(config), Err)
    }
}

impl ConfigError {
    /// Returns the setting whose value is wrong; none if no setting is to blame.
    pub(crate) fn setting(&self) -> Option<&'static Setting> {
        settings().find(|setting| Some(setting.name) == self.setting)
    }
}

/// Returns everything that is wrong with a configuration file; nothing if it can be used. Keys come
/// first, in the order of the file, then values in the order of the settings, then contradictions.
pub fn problems(path: &Path) -> Vec<ConfigError> {
    let file = path.display().to_string();
    let text = match fs::read_to_string(path) {
        Err(error) => {
            return vec![ConfigError::new(format!(
                "config {file}: cannot be read: {error}"
            ))];
        }
        Ok(text) => text,
    };

    let mut values = Values::default();
    let mut problems = values.take_text(&text, &file);

    for setting in settings().filter(|setting| setting.must_exist) {
        let Some(Given { value, origin }) = values.given(setting) else {
            continue;
        };
        let all = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        for named in all.iter().filter_map(Value::as_str) {
            if let Err(error) = fs::File::open(named) {
                problems.push(ConfigError::of(
                    setting.name,
                    format!("{origin}: {named}: {error}"),
                ));
            }
        }
    }

    load(&values, &mut problems);
    problems
}

/// Puts values over the defaults, as far as they can be used, and adds what is wrong with them to
/// `problems`.
fn read(values: &Values, problems: &mut Vec<ConfigError>) -> Config {
    let mut config = Config::default();
    for setting in settings() {
        problems.extend(setting.apply(&mut config, values.given(setting)).err());
    }
    config
}

/// The same, and adds what contradicts itself.
fn load(values: &Values, problems: &mut Vec<ConfigError>) -> Config {
    let config = read(values, problems);
    for setting in settings() {
        // A table with a bad value in it would seem to lack that value.
        let section = setting.section();
        let bad = problems
            .iter()
            .filter_map(|problem| problem.setting?.split_once('.'));
        if !bad.into_iter().any(|(bad, _)| bad == section) {
            problems.extend(setting.check(&config).err());
        }
    }
    problems.extend(contradictions(values, &config));
    config
}

/// Returns the pairs of settings that the user chose and that exclude each other.
fn contradictions(values: &Values, config: &Config) -> impl Iterator<Item = ConfigError> {
    let chosen = |setting: &Setting| setting.chosen(config, values.given(setting));
    let pairs =
        settings().flat_map(|setting| setting.excludes.iter().map(move |other| (setting, other)));
    pairs.filter_map(move |(setting, (other, why))| {
        let other = settings().find(|found| found.name == *other)?;
        let one = chosen(setting)?.origin;
        let other = chosen(other)?.origin;
        Some(
            ConfigError::of(
                setting.name,
                format!("{one} cannot be combined with {other}: {why}"),
            )
            .at(one),
        )
    })
}
