//! The entry point for fuzzers: whole queries.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{
    Name, Positioned,
    parser::{
        parse_query,
        types::{ExecutableDocument, FragmentDefinition, Selection, SelectionSet},
    },
};
use serde_json::Value;

use super::{GraphRequest, NodeSchema, ParsedMemory, QueryStep, limits, run, schema};
use crate::rpc::{Context, Rpc};

/// The nodes of a query's tree that the second measurement visits.
const MAX_VISITED: usize = 100_000;

/// Executes queries against a chain.
pub struct GraphQueries {
    context: Arc<Context>,
    schema: NodeSchema,
}

impl GraphQueries {
    /// Returns the interface to the chain of `rpc`.
    pub fn new(rpc: &Rpc) -> Self {
        Self {
            context: rpc.context.clone(),
            schema: schema(),
        }
    }

    /// Executes a body, or the text of a query. Returns whether it was answered without an error.
    pub fn run(&self, body: &[u8]) -> usize {
        let request = serde_json::from_slice::<GraphRequest>(body)
            .ok()
            .or_else(|| {
                let query = str::from_utf8(body).ok()?.to_owned();
                Some(GraphRequest {
                    query,
                    operation_name: None,
                    variables: None,
                })
            });
        let Some(request) = request else { return 0 };

        compare_measurements(&request.query);

        let step = run(
            self.context.clone(),
            &self.schema,
            request,
            ParsedMemory::new(&self.context),
        );
        let QueryStep::Answered(answered) = step.expect("a query is answered at once") else {
            return 0;
        };

        let response: Value =
            serde_json::from_slice(&answered.json).expect("every response is JSON");
        let errors = response["errors"].as_array().map_or(0, Vec::len);
        assert_eq!(answered.status.is_success(), errors == 0);
        assert!(errors > 0 || response["data"].is_object(), "{response}");
        assert!(
            answered.json.len() <= 4 * self.context.config.max_batch_response,
            "{} bytes",
            answered.json.len()
        );

        usize::from(errors == 0)
    }
}

/// Compares the verdict on a query's size with one that follows every fragment wherever it is used.
fn compare_measurements(query: &str) {
    if limits::check_tokens(query).is_err() {
        return;
    }
    let Ok(document) = parse_query(query) else {
        return;
    };
    if limits::check_selections(&document).is_err() {
        return;
    }

    for (_, operation) in document.operations.iter() {
        let mut walk = Walk {
            document: &document,
            visited: 0,
        };
        let depth = walk.depth(&operation.node.selection_set.node, 0);

        assert!(depth <= 20, "a query of depth {depth} was accepted");
        assert!(
            walk.visited <= 5_000,
            "a query with {} selections was accepted",
            walk.visited
        );
    }
}

struct Walk<'d> {
    document: &'d ExecutableDocument,
    visited: usize,
}

impl<'d> Walk<'d> {
    fn depth(&mut self, set: &'d SelectionSet, above: usize) -> usize {
        let fragments: &'d HashMap<Name, Positioned<FragmentDefinition>> = &self.document.fragments;
        let mut deepest = above;

        for item in &set.items {
            self.visited += 1;
            assert!(
                self.visited < MAX_VISITED,
                "a query without end was accepted"
            );

            let depth = match &item.node {
                Selection::Field(field) => self.depth(&field.node.selection_set.node, above + 1),
                Selection::InlineFragment(inline) => {
                    self.depth(&inline.node.selection_set.node, above)
                }
                Selection::FragmentSpread(spread) => {
                    match fragments.get(&spread.node.fragment_name.node) {
                        Some(fragment) => self.depth(&fragment.node.selection_set.node, above),
                        None => above,
                    }
                }
            };
            deepest = deepest.max(depth);
        }

        deepest
    }
}
