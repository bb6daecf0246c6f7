//! Parameters in paths and queries: types that parse and describe themselves.
//!
//! [`ParameterValue`] is one value, and `parameters!` declares a struct of them, which a handler
//! takes as [`Path`] or [`Query`]. The types hold limits and defaults, from which errors and the
//! OpenAPI document follow.

mod names;
mod parameter;
mod values;

use std::borrow::Cow;

use axum::{
    extract::{
        FromRequestParts, Path as AxumPath, Query as AxumQuery,
        rejection::{PathRejection, QueryRejection},
    },
    http::{StatusCode, request::Parts},
    response::IntoResponse,
};
use tetrad_network::network::Network;

pub(super) use self::names::{QueryNames, only_accepted};
pub use self::parameter::{Parameter, ParameterError, ParameterPlace, ParameterValue, ValueError};
pub use self::values::{Amount, Choice, Limit, NamedToken, Number, Timeframe, UserAddress};
use super::operation::{Failure, Input, Operation};

/// Some parameters of a request; `parameters!` implements it.
pub trait Parameters: Sized {
    /// Reads all of them.
    fn read(given: &RawParameters<'_>) -> Result<Self, ParameterError>;

    /// Describes all of them.
    fn describe(place: ParameterPlace) -> Vec<Parameter>;
}

/// Declares a struct of [`Parameters`].
///
/// Each field has its name on the wire, optionally a second name with the same meaning, and an
/// example, which a type with a default can do without. The field's documentation is its
/// description.
#[macro_export]
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

        impl $crate::parameters::Parameters for $name {
            fn read(
                given: &$crate::parameters::RawParameters<'_>,
            ) -> Result<Self, $crate::parameters::ParameterError> {
                Ok(Self { $($field: given.read($wire, [$($alias)?].first().copied())?,)+ })
            }

            fn describe(place: $crate::parameters::ParameterPlace) -> Vec<$crate::parameters::Parameter> {
                use $crate::parameters::Parameter;
                vec![$(
                    Parameter::new::<$type>($wire, place, concat!($($doc),+), [$($example)?].first().copied()),
                    $(Parameter::alias::<$type>($alias, $wire, place),)?
                )+]
            }
        }
    };
}
pub use crate::parameters;

/// The parameters that a request has. Those that no one reads are left to `only_accepted`; of
/// several with one name the first counts, unless they are a list.
pub struct RawParameters<'a> {
    place: ParameterPlace,
    pairs: Vec<(String, String)>,
    network: &'a Network,
}

impl<'a> RawParameters<'a> {
    /// The parameters of a form, which count as those of a query.
    pub fn of_form(pairs: Vec<(String, String)>, network: &'a Network) -> Self {
        Self {
            place: ParameterPlace::Query,
            pairs,
            network,
        }
    }

    /// Reads a parameter that may have a second name. If both are given they have to agree.
    pub fn read<P: ParameterValue>(
        &self,
        name: &'static str,
        alias: Option<&'static str>,
    ) -> Result<P, ParameterError> {
        let first = self.parse(name)?;
        let second = alias
            .map(|alias| Ok((alias, self.parse(alias)?)))
            .transpose()?;

        match (first, second) {
            (Some((_, text)), Some((alias, Some((_, other))))) if text != other => Err(self.error(
                alias,
                ValueError::Malformed(format!("differs from {name}, which means the same")),
            )),
            (Some((value, _)), _) | (None, Some((_, Some((value, _))))) => Ok(value),
            _ => P::absent().ok_or_else(|| self.error(name, ValueError::Missing)),
        }
    }

    /// The value of a parameter and its text, if it is given.
    fn parse<P: ParameterValue>(
        &self,
        name: &'static str,
    ) -> Result<Option<(P, Cow<'_, str>)>, ParameterError> {
        let named = self.pairs.iter().filter(|(given, _)| given == name);
        let mut texts = named.map(|(_, text)| text.as_str());
        let Some(first) = texts.next() else {
            return Ok(None);
        };
        let text = if P::IS_LIST {
            let all: Vec<_> = [first].into_iter().chain(texts).collect();
            all.join(",").into()
        } else {
            Cow::from(first)
        };

        let value = P::parse(&text, self.network).map_err(|error| self.error(name, error))?;
        Ok(Some((value, text)))
    }

    fn error(&self, name: &'static str, error: ValueError) -> ParameterError {
        ParameterError {
            name,
            place: self.place,
            error,
        }
    }
}

/// The state of an interface's routes, with which parameters are parsed, and the error that they
/// are answered with.
pub trait Interface: Send + Sync {
    /// The interface's error.
    type Error: Failure
        + IntoResponse
        + From<ParameterError>
        + From<PathRejection>
        + From<QueryRejection>;

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
        Ok(Self(T::read(&RawParameters {
            place: ParameterPlace::Path,
            pairs,
            network: state.network(),
        })?))
    }
}

impl<S: Interface, T: Parameters> FromRequestParts<S> for Query<T> {
    type Rejection = S::Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, S::Error> {
        let AxumQuery(pairs) = AxumQuery::from_request_parts(parts, state).await?;
        Ok(Self(T::read(&RawParameters {
            place: ParameterPlace::Query,
            pairs,
            network: state.network(),
        })?))
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
    let operation = operation
        .parameters(parameters)
        .fails::<S::Error>(&[StatusCode::BAD_REQUEST]);

    if may_be_unknown {
        operation.fails::<S::Error>(&[StatusCode::NOT_FOUND])
    } else {
        operation
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
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        T::read(&RawParameters {
            place: ParameterPlace::Query,
            pairs,
            network: &Network::default(),
        })
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
        assert_eq!(
            error.error,
            ValueError::malformed("expected one of 1h, 24h, 7d, 30d")
        );
    }

    fn limit(text: &str) -> Result<u64, ParameterError> {
        read::<HistoryQuery>(&[("limit", text), ("limit", "x")]).map(|query| query.limit.0)
    }

    #[test]
    fn numbers_stay_within_their_range_and_the_first_of_two_counts() {
        assert_eq!(limit("5"), Ok(5));
        assert_eq!(read::<HistoryQuery>(&[]).map(|query| query.limit.0), Ok(3));

        for wrong in ["0", "11", "x", "-1", "", "99999999999999999999999"] {
            let error = limit(wrong).expect_err(wrong);
            assert_eq!(
                (error.name, error.error),
                ("limit", ValueError::malformed("expected 1 to 10")),
                "{wrong}"
            );
        }
    }

    fn token(text: &str) -> Result<Option<String>, ParameterError> {
        read::<HistoryQuery>(&[("tokenIn", text)])
            .map(|query| query.token.map(|token| token.0.symbol))
    }

    #[test]
    fn a_token_is_known_malformed_parameters_have_a_name_and_required_ones_must_be_there() {
        assert_eq!(token("weth"), Ok(Some("WETH".to_owned())));

        let error = token("DOGE").expect_err("unknown");
        assert_eq!(
            (error.name, error.error),
            (
                "tokenIn",
                ValueError::Unknown("no token \"DOGE\"".to_owned())
            )
        );

        parameters! {
            struct Required {
                /// How much.
                #[param("amountIn", example = "1")]
                amount: Amount,
            }
        }

        assert_eq!(
            read::<Required>(&[])
                .map(|query| query.amount)
                .expect_err("missing")
                .error,
            ValueError::Missing
        );

        for wrong in ["", "1.5", "-1", &"9".repeat(100)] {
            assert!(read::<Required>(&[("amountIn", wrong)]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_description_comes_from_the_type() {
        let [period, alias, limit, token] = &HistoryQuery::describe(ParameterPlace::Query)[..]
        else {
            panic!("four names")
        };

        assert_eq!(
            (&*period.name, &*period.description),
            ("period", "How far back: 1h, 24h, 7d or 30d.")
        );
        assert_eq!(
            (&*alias.name, &*alias.description),
            ("timeframe", "Another name for `period`.")
        );
        assert_eq!((alias.required, &*alias.example), (false, "24h"));
        assert_eq!(
            (&*limit.description, &*limit.example),
            ("Samples at most: 1 to 10.", "3")
        );
        assert_eq!(
            (&*token.example, token.may_be_unknown, token.required),
            ("WETH", true, false)
        );
    }
}
