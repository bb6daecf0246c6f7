//! One parameter: what its type says of it, and what is wrong with a text.

use std::borrow::Cow;

use schemars::Schema;
use serde_json::Value;
use tetrad_network::network::Network;
use tetrad_stdx::text::excerpt;

/// A value that clients write in a path or a query.
pub trait ParameterValue: Sized {
    /// Whether a well-formed value may be unknown, which is answered with 404.
    const MAY_BE_UNKNOWN: bool = false;

    /// Whether it is a list, with commas or as several parameters of the same name.
    const IS_LIST: bool = false;

    /// The JSON schema, with the default if there is one.
    fn schema() -> Schema;

    /// The accepted values in words, for the description: `1 to 100`. None if the schema says it
    /// better.
    fn accepted() -> Option<String> {
        None
    }

    /// The value of a parameter that is left out; none if it must not be.
    fn absent() -> Option<Self> {
        None
    }

    /// Reads the text of a request.
    fn parse(text: &str, network: &Network) -> Result<Self, ValueError>;
}

/// The reason why a text is not a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// The parameter is required.
    Missing,
    /// The text is malformed, for this reason.
    Malformed(String),
    /// The value is unknown, for this reason.
    Unknown(String),
}

impl ValueError {
    /// Returns the error for a malformed text.
    pub fn malformed(what: impl ToString) -> Self {
        Self::Malformed(what.to_string())
    }

    /// Returns the error for an unknown `what`, such as a token, with the text, cut short.
    pub fn unknown(what: &str, text: &str) -> Self {
        Self::Unknown(format!("no {what} {:?}", excerpt(text, 50)))
    }
}

/// A [`ValueError`] with the parameter that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// The parameter's name.
    pub name: &'static str,
    /// The part of the request that has it.
    pub place: ParameterPlace,
    /// The reason.
    pub error: ValueError,
}

/// The part of a request that holds a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterPlace {
    /// The path.
    Path,
    /// The query.
    Query,
}

/// The description of a parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(crate) name: Cow<'static, str>,
    pub(crate) place: ParameterPlace,
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
    pub(crate) example: String,
    pub(super) may_be_unknown: bool,
}

impl Parameter {
    /// Describes a parameter. Without an example it shows its default.
    pub fn new<P: ParameterValue>(
        name: &'static str,
        place: ParameterPlace,
        doc: &str,
        example: Option<&str>,
    ) -> Self {
        let doc = doc.trim();
        let description = match P::accepted() {
            Some(accepted) => format!("{}: {accepted}.", doc.trim_end_matches('.')),
            None => doc.to_owned(),
        };

        let schema = P::schema();
        let default = schema.get("default").map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
        let example = example.map(str::to_owned).or(default).unwrap_or_default();

        Self {
            name: name.into(),
            place,
            description,
            required: P::absent().is_none(),
            schema,
            example,
            may_be_unknown: P::MAY_BE_UNKNOWN,
        }
    }

    /// A parameter that no [`ParameterValue`] describes: a required one in the path, an optional one
    /// in the query.
    pub fn described(
        name: String,
        place: ParameterPlace,
        description: String,
        schema: Schema,
        example: String,
    ) -> Self {
        let required = place == ParameterPlace::Path;
        Self {
            name: name.into(),
            place,
            description,
            required,
            schema,
            example,
            may_be_unknown: false,
        }
    }

    /// The example in the type of the schema; none if there is none.
    pub(crate) fn example_value(&self) -> Option<Value> {
        let text = self.example.as_str();
        let of_type = |name: &str| self.schema.get("type").is_some_and(|types| types == name);
        match text {
            "" => None,
            _ if of_type("integer") || of_type("number") || of_type("boolean") => {
                serde_json::from_str(text).ok()
            }
            _ => Some(text.into()),
        }
    }

    /// Describes another name for the parameter `name`.
    pub fn alias<P: ParameterValue>(
        alias: &'static str,
        name: &str,
        place: ParameterPlace,
    ) -> Self {
        Self {
            description: format!("Another name for `{name}`."),
            ..Self::new::<P>(alias, place, "", None)
        }
    }
}

/// A parameter that may be left out.
impl<P: ParameterValue> ParameterValue for Option<P> {
    const MAY_BE_UNKNOWN: bool = P::MAY_BE_UNKNOWN;

    fn schema() -> Schema {
        let mut schema = P::schema();
        // Leaving it out differs from giving the type's default.
        schema.remove("default");
        schema
    }

    fn accepted() -> Option<String> {
        P::accepted()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        P::parse(text, network).map(Some)
    }
}
