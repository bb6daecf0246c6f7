//! Examples of requests and responses: data, a line of JSON for each route.
//!
//! A test sends the requests and compares the responses, and `TETRAD_BLESS=1` has it write them.
//! Lists are cut to their first item, and long texts are cut short.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The example of a route.
#[derive(Debug, Deserialize)]
pub(super) struct RouteExample<'a> {
    /// The method, in lower case.
    method: &'a str,
    /// The path, as in the document.
    path: &'a str,
    /// The body of the request.
    request: Option<String>,
    /// The status of the response.
    status: u16,
    /// The JSON body of the response.
    response: Value,
}

/// The examples by method and path.
pub(super) fn by_route(lines: &str) -> HashMap<(&str, &str), RouteExample<'_>> {
    let examples = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<RouteExample<'_>>(line).ok());
    examples
        .map(|example| ((example.method, example.path), example))
        .collect()
}

impl RouteExample<'_> {
    /// Adds the example to the description of its operation.
    pub(super) fn add_to(&self, operation: &mut Value) {
        let content = operation
            .pointer_mut("/requestBody/content")
            .and_then(Value::as_object_mut);
        if let (Some(body), Some(content)) = (&self.request, content) {
            for (media, content) in content {
                if let Some(value) = body_value(media, body) {
                    content["example"] = value;
                }
            }
        }

        // `~1` is the slash in a JSON pointer (RFC 6901).
        let body = format!("/responses/{}/content/application~1json", self.status);
        if let Some(content) = operation.pointer_mut(&body) {
            content["example"] = self.response.clone();
        }
    }
}

/// The value of a body in a media type, if an example of it can be shown.
fn body_value(media: &str, body: &str) -> Option<Value> {
    match media {
        "application/json" => serde_json::from_str(body).ok(),
        "application/toml" => Some(body.into()),
        "application/x-www-form-urlencoded" => {
            let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
            Some(
                pairs
                    .map(|(name, value)| (name.to_owned(), value.into()))
                    .collect::<Map<_, _>>()
                    .into(),
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_is_shown_at_its_status() {
        let line = r#"{"method":"post","path":"/a/{b}","request":"{\"c\":1}","status":404,"response":{"d":2}}"#;
        let examples = by_route(line);
        let content = || json!({"application/json": {"schema": {}}});
        let response = || json!({"content": content()});
        let mut operation = json!({"requestBody": {"content": content()}, "responses": {"200": response(), "404": response()}});

        examples[&("post", "/a/{b}")].add_to(&mut operation);

        assert_eq!(
            operation["requestBody"]["content"]["application/json"]["example"],
            json!({"c": 1})
        );
        assert_eq!(
            operation["responses"]["404"]["content"]["application/json"]["example"],
            json!({"d": 2})
        );
        assert!(
            operation["responses"]["200"]["content"]["application/json"]
                .get("example")
                .is_none()
        );
    }

    #[test]
    fn a_body_is_shown_in_its_media_type() {
        assert_eq!(body_value("application/json", "[1]"), Some(json!([1])));
        assert_eq!(
            body_value("application/toml", "a = 1"),
            Some(json!("a = 1"))
        );
        assert_eq!(
            body_value("application/x-www-form-urlencoded", "a=1&b=2"),
            Some(json!({"a": "1", "b": "2"}))
        );
        assert_eq!(body_value("multipart/form-data", "x"), None);
    }
}
