//! Parameters in paths and queries: types that parse and describe themselves.
//!
//! [`Param`] is one value and `parameters!` declares a struct of them, which a handler takes as [`Path`] or [`Query`]. Limits and
//! defaults stand in the types, and errors and the OpenAPI document are made from them.

use alloy_primitives::{Address, U256};
use axum::{
    extract::{
        FromRequestParts, Path as AxumPath, Query as AxumQuery,
        rejection::{PathRejection, QueryRejection},
    },
    http::{StatusCode, request::Parts},
    response::IntoResponse,
};
use schemars::{Schema, json_schema};

use super::api::{Failure, Input, Operation};
use crate::{
    account::{address_from_hex, parse_account_address},
    network::{Network, Token},
};

/// A value that clients write in a path or a query.
pub trait Param: Sized {
    /// Whether a well-formed value may name nothing, which is answered with 404.
    const MAY_BE_UNKNOWN: bool = false;

    /// The JSON schema, with the default if there is one.
    fn schema() -> Schema;

    /// The accepted values in words, for the description: `1 to 100`. None if the schema says it better.
    fn accepted() -> Option<String> {
        None
    }

    /// The value of a parameter that is left out; none if it must not be.
    fn absent() -> Option<Self> {
        None
    }

    /// Reads the text of a request.
    fn parse(text: &str, network: &Network) -> Result<Self, ParamError>;
}

/// The reason why a text is not a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamError {
    /// It has to be there.
    Missing,
    /// It is not what the parameter takes.
    Malformed(String),
    /// It names nothing.
    Unknown(String),
}

impl ParamError {
    /// A text that is not what the parameter takes.
    pub fn malformed(what: impl ToString) -> Self {
        Self::Malformed(what.to_string())
    }

    /// A name of nothing: `what` it should be the name of, with the text, cut short.
    pub fn unknown(what: &str, text: &str) -> Self {
        Self::Unknown(format!("no {what} {:?}", text.chars().take(50).collect::<String>()))
    }
}

/// A [`ParamError`] with the parameter that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// The parameter's name.
    pub name: &'static str,
    /// Where it stands.
    pub place: ParameterPlace,
    /// What is wrong with it.
    pub error: ParamError,
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
    pub(super) name: &'static str,
    pub(super) place: ParameterPlace,
    pub(super) description: String,
    pub(super) required: bool,
    pub(super) schema: Schema,
    pub(super) example: String,
    may_be_unknown: bool,
}

impl Parameter {
    /// Describes a parameter. Without an example it shows its default.
    pub fn new<P: Param>(name: &'static str, place: ParameterPlace, doc: &str, example: Option<&str>) -> Self {
        let (doc, schema) = (doc.trim(), P::schema());
        let description = match P::accepted() {
            Some(accepted) => format!("{}: {accepted}.", doc.trim_end_matches('.')),
            None => doc.to_owned(),
        };
        let default =
            schema.get("default").map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let example = example.map(str::to_owned).or(default).unwrap_or_default();
        let required = P::absent().is_none();
        Self { name, place, description, required, schema, example, may_be_unknown: P::MAY_BE_UNKNOWN }
    }

    /// Describes another name for the parameter `name`.
    pub fn alias<P: Param>(alias: &'static str, name: &str, place: ParameterPlace) -> Self {
        Self { description: format!("Another name for `{name}`."), ..Self::new::<P>(alias, place, "", None) }
    }
}

/// Some parameters of a request; `parameters!` implements it.
pub trait Parameters: Sized {
    /// Reads all of them.
    fn read(given: &RawParameters<'_>) -> Result<Self, ParameterError>;

    /// Describes all of them.
    fn describe(place: ParameterPlace) -> Vec<Parameter>;
}

/// Declares a struct of [`Parameters`].
///
/// Each field has its name on the wire, optionally a second name with the same meaning, and an example, which a type with
/// a default can do without. The field's documentation is its description.
macro_rules! parameters {
    ($(#[doc = $about:literal])* $visible:vis struct $name:ident { $(
        $(#[doc = $doc:literal])+
        #[param($wire:literal $(| $alias:literal)? $(, example = $example:literal)?)]
        $field_visible:vis $field:ident: $type:ty,
    )+ }) => {
        $(#[doc = $about])*
        $visible struct $name {
            $($(#[doc = $doc])+ $field_visible $field: $type,)+
        }

        impl $crate::web::parameters::Parameters for $name {
            fn read(
                given: &$crate::web::parameters::RawParameters<'_>,
            ) -> Result<Self, $crate::web::parameters::ParameterError> {
                Ok(Self { $($field: given.read($wire, [$($alias)?].first().copied())?,)+ })
            }

            fn describe(place: $crate::web::parameters::ParameterPlace) -> Vec<$crate::web::parameters::Parameter> {
                use $crate::web::parameters::Parameter;
                vec![$(
                    Parameter::new::<$type>($wire, place, concat!($($doc),+), [$($example)?].first().copied()),
                    $(Parameter::alias::<$type>($alias, $wire, place),)?
                )+]
            }
        }
    };
}
pub(crate) use parameters;

/// The parameters that a request has. Unknown ones are ignored; of several with one name the first counts.
pub struct RawParameters<'a> {
    place: ParameterPlace,
    pairs: Vec<(String, String)>,
    network: &'a Network,
}

impl RawParameters<'_> {
    /// Reads a parameter that may have a second name. If both are given they have to agree.
    pub fn read<P: Param>(&self, name: &'static str, alias: Option<&'static str>) -> Result<P, ParameterError> {
        let first = self.parse(name)?;
        let second = alias.map(|alias| Ok((alias, self.parse(alias)?))).transpose()?;
        match (first, second) {
            (Some((_, text)), Some((alias, Some((_, other))))) if text != other => {
                Err(self.error(alias, ParamError::Malformed(format!("differs from {name}, which means the same"))))
            }
            (Some((value, _)), _) | (None, Some((_, Some((value, _))))) => Ok(value),
            _ => P::absent().ok_or_else(|| self.error(name, ParamError::Missing)),
        }
    }

    /// The value of a parameter and its text, if it is given.
    fn parse<P: Param>(&self, name: &'static str) -> Result<Option<(P, &str)>, ParameterError> {
        let Some((_, text)) = self.pairs.iter().find(|(given, _)| given == name) else { return Ok(None) };
        let value = P::parse(text, self.network).map_err(|error| self.error(name, error))?;
        Ok(Some((value, text)))
    }

    fn error(&self, name: &'static str, error: ParamError) -> ParameterError {
        ParameterError { name, place: self.place, error }
    }
}

/// The state of an interface's routes: what parameters are read with, and what becomes of errors in them.
pub trait Interface: Send + Sync {
    /// The interface's error.
    type Error: Failure + IntoResponse + From<ParameterError> + From<PathRejection> + From<QueryRejection>;

    /// The network that addresses and symbols belong to.
    fn network(&self) -> &Network;
}

/// Extracts [`Parameters`] from the path.
pub struct Path<T>(pub T);

/// Extracts [`Parameters`] from the query.
pub struct Query<T>(pub T);

impl<S: Interface, T: Parameters> FromRequestParts<S> for Path<T> {
    type Rejection = S::Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, S::Error> {
        let AxumPath(pairs) = AxumPath::from_request_parts(parts, state).await?;
        Ok(Self(T::read(&RawParameters { place: ParameterPlace::Path, pairs, network: state.network() })?))
    }
}

impl<S: Interface, T: Parameters> FromRequestParts<S> for Query<T> {
    type Rejection = S::Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, S::Error> {
        let AxumQuery(pairs) = AxumQuery::from_request_parts(parts, state).await?;
        Ok(Self(T::read(&RawParameters { place: ParameterPlace::Query, pairs, network: state.network() })?))
    }
}

impl<S: Interface, T: Parameters> Input<S> for Path<T> {
    fn describe(operation: Operation) -> Operation {
        describe::<S>(operation, T::describe(ParameterPlace::Path))
    }
}

impl<S: Interface, T: Parameters> Input<S> for Query<T> {
    fn describe(operation: Operation) -> Operation {
        describe::<S>(operation, T::describe(ParameterPlace::Query))
    }
}

fn describe<S: Interface>(operation: Operation, parameters: Vec<Parameter>) -> Operation {
    let may_be_unknown = parameters.iter().any(|parameter| parameter.may_be_unknown);
    let operation = operation.parameters(parameters).fails::<S::Error>(&[StatusCode::BAD_REQUEST]);
    if may_be_unknown { operation.fails::<S::Error>(&[StatusCode::NOT_FOUND]) } else { operation }
}

/// A parameter that may be left out.
impl<P: Param> Param for Option<P> {
    const MAY_BE_UNKNOWN: bool = P::MAY_BE_UNKNOWN;

    fn schema() -> Schema {
        P::schema()
    }

    fn accepted() -> Option<String> {
        P::accepted()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        P::parse(text, network).map(Some)
    }
}

/// A parameter that is one of several words.
pub trait Choice: Copy + 'static {
    /// The words and what they stand for.
    const CHOICES: &'static [(&'static str, Self)];
    /// The word of a parameter that is left out; none if it must not be.
    const DEFAULT: Option<&'static str>;

    /// The value of a word.
    fn of(word: &str) -> Option<Self> {
        Self::CHOICES.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }
}

impl<C: Choice> Param for C {
    fn schema() -> Schema {
        let words: Vec<_> = C::CHOICES.iter().map(|(word, _)| *word).collect();
        match C::DEFAULT {
            Some(default) => json_schema!({ "type": "string", "enum": words, "default": default }),
            None => json_schema!({ "type": "string", "enum": words }),
        }
    }

    fn accepted() -> Option<String> {
        let words: Vec<_> = C::CHOICES.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last()?;
        Some(format!("{} or {last}", others.join(", ")))
    }

    fn absent() -> Option<Self> {
        C::DEFAULT.and_then(C::of)
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let words = || C::CHOICES.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        C::of(text).ok_or_else(|| ParamError::Malformed(format!("expected one of {}", words())))
    }
}

/// How far back a history reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeframe {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its length.
    pub seconds: u64,
}

impl Choice for Timeframe {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("1h", Self { name: "1h", seconds: 3_600 }),
        ("24h", Self { name: "24h", seconds: 86_400 }),
        ("7d", Self { name: "7d", seconds: 604_800 }),
        ("30d", Self { name: "30d", seconds: 2_592_000 }),
    ];
    const DEFAULT: Option<&'static str> = Some("24h");
}

/// A whole number from `MIN` to `MAX`, `DEFAULT` if it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const MIN: u64, const MAX: u64, const DEFAULT: u64>(pub u64);

/// A number of results, at least one.
pub type Limit<const MAX: u64, const DEFAULT: u64> = Number<1, MAX, DEFAULT>;

impl<const MIN: u64, const MAX: u64, const DEFAULT: u64> Param for Number<MIN, MAX, DEFAULT> {
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX, "default": DEFAULT })
    }

    fn accepted() -> Option<String> {
        Some(format!("{MIN} to {MAX}"))
    }

    fn absent() -> Option<Self> {
        Some(Self(DEFAULT))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
        number.map(Self).ok_or_else(|| ParamError::Malformed(format!("expected {MIN} to {MAX}")))
    }
}

/// A user's address: hex in any case, or bech32 of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserAddress(pub Address);

impl Param for UserAddress {
    fn schema() -> Schema {
        // No pattern can describe the checksum of bech32.
        json_schema!({ "type": "string", "format": "account-address" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        let address = if is_hex {
            address_from_hex(&text.to_ascii_lowercase())
        } else {
            parse_account_address(text, &network.hrp)
        };
        address.map(Self).map_err(ParamError::malformed)
    }
}

/// A token by its address or symbol, in any case.
#[derive(Clone, Debug)]
pub struct NamedToken(pub Token);

impl Param for NamedToken {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^(0[xX][0-9a-fA-F]{40}|[A-Za-z]{2,12})$" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        network.token(text).cloned().map(Self).ok_or_else(|| ParamError::unknown("token", text))
    }
}

/// An amount in a token's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub U256);

impl Param for Amount {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{1,78}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let digits = Some(text).filter(|text| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()));
        let number = digits.and_then(|digits| U256::from_str_radix(digits, 10).ok());
        number
            .map(Self)
            .ok_or_else(|| ParamError::malformed("expected a whole number of the token's smallest unit, below 2^256"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    parameters! {
        /// The query of a history.
        struct HistoryQuery {
            /// How far back.
            #[param("period" | "timeframe")]
            timeframe: Timeframe,
            /// Samples at most.
            #[param("limit")]
            limit: Limit<10, 3>,
            /// A token.
            #[param("tokenIn", example = "WETH")]
            token: Option<NamedToken>,
        }
    }

    fn read<T: Parameters>(pairs: &[(&str, &str)]) -> Result<T, ParameterError> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        T::read(&RawParameters { place: ParameterPlace::Query, pairs, network: &Network::default() })
    }

    #[test]
    fn a_parameter_may_have_two_names() {
        let name = |pairs| read::<HistoryQuery>(pairs).map(|query| query.timeframe.name);
        assert_eq!(name(&[]), Ok("24h"));
        assert_eq!(name(&[("timeframe", "1h")]), Ok("1h"));
        assert_eq!(name(&[("period", "7d"), ("timeframe", "7d")]), Ok("7d"));
        let error = name(&[("period", "7d"), ("timeframe", "1h")]).expect_err("they differ");
        assert_eq!(error.name, "timeframe");
        let error = name(&[("period", "2h")]).expect_err("not one of the words");
        assert_eq!(error.error, ParamError::malformed("expected one of 1h, 24h, 7d, 30d"));
    }

    #[test]
    fn numbers_stay_within_their_range_and_the_first_of_two_counts() {
        let limit = |text| read::<HistoryQuery>(&[("limit", text), ("limit", "x")]).map(|query| query.limit.0);
        assert_eq!(limit("5"), Ok(5));
        assert_eq!(read::<HistoryQuery>(&[]).map(|query| query.limit.0), Ok(3));
        for wrong in ["0", "11", "x", "-1", "", "99999999999999999999999"] {
            let error = limit(wrong).expect_err(wrong);
            assert_eq!((error.name, error.error), ("limit", ParamError::malformed("expected 1 to 10")), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_known_malformed_parameters_have_a_name_and_required_ones_must_be_there() {
        let token =
            |text| read::<HistoryQuery>(&[("tokenIn", text)]).map(|query| query.token.map(|token| token.0.symbol));
        assert_eq!(token("weth"), Ok(Some("WETH".to_owned())));
        let error = token("DOGE").expect_err("unknown");
        assert_eq!((error.name, error.error), ("tokenIn", ParamError::Unknown("no token \"DOGE\"".to_owned())));
        parameters! {
            struct Required {
                /// How much.
                #[param("amountIn", example = "1")]
                amount: Amount,
            }
        }
        assert_eq!(read::<Required>(&[]).map(|query| query.amount).expect_err("missing").error, ParamError::Missing);
        for wrong in ["", "1.5", "-1", &"9".repeat(100)] {
            assert!(read::<Required>(&[("amountIn", wrong)]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_description_comes_from_the_type() {
        let [period, alias, limit, token] = &HistoryQuery::describe(ParameterPlace::Query)[..] else {
            panic!("four names")
        };
        assert_eq!((period.name, &*period.description), ("period", "How far back: 1h, 24h, 7d or 30d."));
        assert_eq!((alias.name, &*alias.description), ("timeframe", "Another name for `period`."));
        assert_eq!((alias.required, &*alias.example), (false, "24h"));
        assert_eq!((&*limit.description, &*limit.example), ("Samples at most: 1 to 10.", "3"));
        assert_eq!((&*token.example, token.may_be_unknown, token.required), ("WETH", true, false));
    }
}
