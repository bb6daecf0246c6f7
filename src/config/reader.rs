//! Reading values into fields.

use std::{fmt::Display, ops::RangeInclusive, path::PathBuf, str::FromStr, time::Duration};

use toml::Value;

use super::{ConfigError, Origin, Values};

/// Reads values into fields, with errors that name the setting.
pub(super) struct Reader<'a>(pub(super) &'a Values);

impl<'a> Reader<'a> {
    pub(super) fn text(&self, name: &str) -> Option<(String, &'a Origin)> {
        let (value, origin) = self.0.get(name)?;
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some((text, origin))
    }

    pub(super) fn list(&self, name: &str) -> Option<(Vec<&'a str>, &'a Origin)> {
        let (value, origin) = self.0.get(name)?;
        Some((value.as_array().into_iter().flatten().filter_map(Value::as_str).collect(), origin))
    }

    pub(super) fn checked<T>(
        &self,
        name: &str,
        field: &mut T,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(), ConfigError> {
        if let Some((text, origin)) = self.text(name) {
            *field = check(&text).map_err(|what| ConfigError::new(format!("{origin}: {what}")))?;
        }
        Ok(())
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(
        &self,
        name: &str,
        expected: &str,
        field: &mut T,
    ) -> Result<(), ConfigError> {
        self.checked(name, field, |text| {
            text.parse().map_err(|error| format!("expected {expected}, got `{text}` ({error})"))
        })
    }

    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
        let Some((text, origin)) = self.text(name) else { return Ok(None) };
        let found = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let wrong = || ConfigError::new(format!("{origin}: expected {}, got `{text}`", names.join(" or ")));
        found.map(Some).ok_or_else(wrong)
    }

    pub(super) fn integer<T: TryFrom<i64>>(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), ConfigError> {
        let Some((value, origin)) = self.0.get(name) else { return Ok(()) };
        let number =
            value.as_integer().filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        let (least, most) = (range.start(), range.end());
        *field =
            number.ok_or_else(|| ConfigError::new(format!("{origin}: expected {least} to {most}, got {value}")))?;
        Ok(())
    }

    pub(super) fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, ConfigError> {
        let Some((value, origin)) = self.0.get(name) else { return Ok(None) };
        let number = value.as_float().or(value.as_integer().map(|whole| whole as f64));
        let (least, most) = (range.start(), range.end());
        let wrong = || ConfigError::new(format!("{origin}: expected {least} to {most}, got {value}"));
        number.filter(|number| range.contains(number)).map(Some).ok_or_else(wrong)
    }

    pub(super) fn seconds(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<Duration>, ConfigError> {
        let Some((value, origin)) = self.0.get(name) else { return Ok(None) };
        let number = value.as_float().or(value.as_integer().map(|whole| whole as f64));
        let (least, most) = (range.start(), range.end());
        let wrong = || ConfigError::new(format!("{origin}: expected {least} to {most} seconds, got {value}"));
        number.filter(|number| range.contains(number)).map(Duration::from_secs_f64).map(Some).ok_or_else(wrong)
    }

    pub(super) fn switch(&self, name: &str, field: &mut bool) {
        if let Some(value) = self.0.get(name).and_then(|(value, _)| value.as_bool()) {
            *field = value;
        }
    }

    pub(super) fn path(&self, name: &str, field: &mut Option<PathBuf>) {
        if let Some((text, _)) = self.text(name) {
            *field = Some(PathBuf::from(text));
        }
    }
}
