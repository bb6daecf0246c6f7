//! Parameters of queries that a route does not have.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tetrad_stdx::text::excerpt;

use super::{Parameter, ParameterPlace};
use crate::RestError;

/// The longest name that an error repeats.
const MAX_SHOWN: usize = 50;

/// The names that a route accepts in a query. Clones share them.
#[derive(Clone)]
pub(crate) struct QueryNames {
    /// Names that the route describes.
    described: Arc<[String]>,
    /// Names that are accepted without effect.
    without_effect: &'static [&'static str],
    /// The response to other names.
    refuse: fn(RestError) -> Response,
}

impl QueryNames {
    /// The names of the parameters in the query, and those that have no effect. `refuse` answers
    /// requests with others.
    pub(crate) fn of(
        parameters: &[Parameter],
        without_effect: &'static [&'static str],
        refuse: fn(RestError) -> Response,
    ) -> Self {
        let in_query = parameters
            .iter()
            .filter(|parameter| parameter.place == ParameterPlace::Query);
        let described = in_query
            .map(|parameter| parameter.name.to_string())
            .collect();

        Self {
            described,
            without_effect,
            refuse,
        }
    }

    fn accepts(&self, name: &str) -> bool {
        self.described.iter().any(|known| known == name) || self.without_effect.contains(&name)
    }

    /// Returns the error for the first name of a query that is not accepted.
    fn check(&self, query: &str) -> Result<(), RestError> {
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !self.accepts(name)) {
            None => Ok(()),
            Some(name) => Err(RestError::UnknownParameter {
                name: excerpt(&name, MAX_SHOWN).to_owned(),
                known: self.described.clone(),
            }),
        }
    }
}

/// Lets only requests through whose query has no other names.
pub(crate) async fn only_accepted(
    State(names): State<QueryNames>,
    request: Request,
    next: Next,
) -> Response {
    match names.check(request.uri().query().unwrap_or_default()) {
        Ok(()) => next.run(request).await,
        Err(error) => (names.refuse)(error),
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;
    use crate::parameters::Limit;

    #[test]
    fn a_parameter_that_the_route_does_not_describe_is_refused_by_name() {
        let parameters = [
            Parameter::new::<Limit<10, 3>>("limit", ParameterPlace::Query, "Items at most.", None),
            Parameter::alias::<Limit<10, 3>>("size", "limit", ParameterPlace::Query),
            Parameter::new::<Limit<10, 3>>(
                "filter",
                ParameterPlace::Path,
                "A part of the path.",
                None,
            ),
        ];
        let names = QueryNames::of(&parameters, &["apikey"], IntoResponse::into_response);

        for accepted in ["", "limit=1", "size=%00&apikey=x", "limit=1&limit=2"] {
            assert_eq!(names.check(accepted), Ok(()), "{accepted}");
        }

        for (query, message) in [
            (
                "limit=1&filter=x",
                "filter: this route takes only limit, size",
            ),
            ("Limit=1", "Limit: this route takes only limit, size"),
            ("=1", ": this route takes only limit, size"),
        ] {
            assert_eq!(
                names.check(query).map_err(|error| error.to_string()),
                Err(message.to_owned()),
                "{query}"
            );
        }

        let none = QueryNames::of(&[], &[], IntoResponse::into_response);
        let error = none
            .check(&"x".repeat(200))
            .expect_err("no parameters")
            .to_string();
        assert_eq!(
            error,
            format!("{}: this route takes no parameters", "x".repeat(50))
        );
    }
}
