//! Limits of a query: its shape before it runs, and the time and memory that it takes.
//!
//! The size of a query is measured before async-graphql validates it, since nested fragments cost
//! that validation exponential time. One turn bounds its time.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use async_graphql::{
    Name, PathSegment, Positioned, QueryPathNode, ServerError, ServerResult, Value, async_trait,
    extensions::{Extension, ExtensionContext, ExtensionFactory, NextResolve, ResolveInfo},
    parser::types::{ExecutableDocument, FragmentDefinition, Selection, SelectionSet},
};
use parking_lot::Mutex;
use tetrad_stdx::nesting::MAX_NESTING;
use tetrad_web::{Budget, Held};

/// The maximum depth of nested fields, as in geth.
const MAX_DEPTH: usize = 20;
/// The maximum number of selections, with those of a fragment counted wherever it is used.
const MAX_SELECTIONS: usize = 5_000;
/// The maximum number of tokens.
const MAX_TOKENS: usize = 32_000;
/// The memory in bytes that the parser allocates for a token.
const TOKEN_BYTES: usize = 1 << 10;
/// Documents of at most this number of tokens are not charged to the budget.
const FEW_TOKENS: usize = 100;
/// The maximum length of a field's name or alias, which the response repeats for every value.
const MAX_NAME: usize = 256;
/// The maximum number of fragments, which may use one another.
const MAX_FRAGMENTS: usize = 32;
/// The maximum number of errors in a response.
pub(super) const MAX_ERRORS: usize = 100;
/// The maximum length of an error's text, which may repeat a part of the query.
const MAX_MESSAGE: usize = 1_000;
/// The approximate memory in bytes of a value in addition to its text, and of a name in a path.
const VALUE_BYTES: usize = 128;
const NAME_BYTES: usize = 32;

/// Checks the number of tokens, and the depth of brackets outside of texts and comments. Returns
/// the memory in bytes of the document in addition to its text; 0 if it is short.
pub(super) fn check_tokens(query: &str) -> Result<usize, String> {
    let mut depth = 0_usize;
    let mut tokens = 0_usize;
    let mut was_word = false;

    let mut rest = query.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;

        let is_word = first.is_ascii_alphanumeric() || *first == b'_';
        let continues_word = is_word && was_word;
        if !first.is_ascii_whitespace() && !continues_word {
            tokens += 1;
        }
        was_word = is_word;

        match first {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'#' => {
                rest = after
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(&[], |end| &after[end..])
            }
            b'"' => rest = after_text(after),
            _ => {}
        }

        // The parser calls itself at each bracket.
        if depth > MAX_NESTING {
            return Err(format!(
                "the query has more than {MAX_NESTING} nested brackets"
            ));
        }
        if tokens > MAX_TOKENS {
            return Err(format!("the query has more than {MAX_TOKENS} tokens"));
        }
    }

    Ok(if tokens > FEW_TOKENS {
        tokens * TOKEN_BYTES
    } else {
        0
    })
}

/// Returns the rest after a string literal whose first quotation mark was read.
fn after_text(rest: &[u8]) -> &[u8] {
    if let Some(block) = rest.strip_prefix(b"\"\"") {
        let mut at = 0;
        while at < block.len() {
            match &block[at..] {
                [b'\\', b'"', b'"', b'"', ..] => at += 4,
                [b'"', b'"', b'"', after @ ..] => return after,
                _ => at += 1,
            }
        }
        // Either not closed, or an empty text.
        return block;
    }

    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' | b'\n' => return &rest[at + 1..],
            _ => at += 1,
        }
    }
    &[]
}

/// The size of a set of selections with its fragments.
#[derive(Clone, Copy, Default)]
struct QuerySize {
    selections: usize,
    depth: usize,
}

impl QuerySize {
    fn add(&mut self, other: Self) {
        self.selections = self.selections.saturating_add(other.selections);
        self.depth = self.depth.max(other.depth);
    }
}

/// Measures selections. Each fragment is measured once, however often it is used.
struct Measure<'d> {
    fragments: &'d HashMap<Name, Positioned<FragmentDefinition>>,
    /// `None` while the fragment is measured.
    known: HashMap<&'d str, Option<QuerySize>>,
}

impl<'d> Measure<'d> {
    fn set(&mut self, set: &'d SelectionSet) -> Result<QuerySize, String> {
        let mut whole = QuerySize::default();
        for item in &set.items {
            let mut one = match &item.node {
                Selection::Field(field) => {
                    let name = &field.node.response_key().node;
                    if name.len() > MAX_NAME {
                        let shown = &name[..MAX_NAME];
                        return Err(format!("the name {shown}… has more than {MAX_NAME} bytes"));
                    }
                    let within = self.set(&field.node.selection_set.node)?;
                    QuerySize {
                        depth: within.depth + 1,
                        ..within
                    }
                }
                Selection::InlineFragment(inline) => self.set(&inline.node.selection_set.node)?,
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node)?
                }
            };
            one.selections = one.selections.saturating_add(1);
            whole.add(one);

            // At each selection, so that a query that is too large is not measured to its end.
            if whole.depth > MAX_DEPTH {
                return Err(format!(
                    "the query has depth {}, which exceeds the maximum of {MAX_DEPTH}",
                    whole.depth
                ));
            }
            if whole.selections > MAX_SELECTIONS {
                return Err(format!(
                    "the query has more than {MAX_SELECTIONS} selections"
                ));
            }
        }
        Ok(whole)
    }

    fn fragment(&mut self, name: &'d str) -> Result<QuerySize, String> {
        match self.known.get(name) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => return Err(format!("the fragment {name} contains itself")),
            None => {}
        }

        // An unknown fragment is reported by the validation.
        let Some(fragment) = self.fragments.get(name) else {
            return Ok(QuerySize::default());
        };

        // Marks the fragment as being measured, so that a cycle is noticed.
        self.known.insert(name, None);
        let size = self.set(&fragment.node.selection_set.node)?;
        self.known.insert(name, Some(size));
        Ok(size)
    }
}

/// Checks the depth and the number of selections of every operation.
pub(super) fn check_selections(document: &ExecutableDocument) -> Result<(), String> {
    if document.fragments.len() > MAX_FRAGMENTS {
        return Err(format!("the query has more than {MAX_FRAGMENTS} fragments"));
    }

    let mut measure = Measure {
        fragments: &document.fragments,
        known: HashMap::new(),
    };

    // Unused fragments are validated as well.
    let names: Vec<&Name> = document.fragments.keys().collect();
    for name in names {
        measure.fragment(name)?;
    }

    let mut whole = QuerySize::default();
    for (_, operation) in document.operations.iter() {
        whole.add(measure.set(&operation.node.selection_set.node)?);
    }
    if whole.selections > MAX_SELECTIONS {
        return Err(format!(
            "the query has more than {MAX_SELECTIONS} selections"
        ));
    }
    Ok(())
}

/// The time and memory that one query may take.
pub(super) struct QueryLimits {
    pub(super) out_of_time: Box<dyn Fn() -> bool + Send + Sync>,
    pub(super) max_bytes: usize,
    pub(super) budget: Budget,
    bytes: AtomicUsize,
    held: Mutex<Held>,
    /// Set once the response exceeds its memory: no further field is executed, and no part of the
    /// response is sent.
    is_exhausted: AtomicBool,
    failures: Mutex<Failures>,
}

/// The errors of fields. By the specification a failed field is null, or its parent is if the field
/// is non-null; async-graphql leaves the field out.
#[derive(Default)]
struct Failures {
    errors: Vec<ServerError>,
    /// The paths of the fields that become null.
    nulls: HashSet<Vec<String>>,
}

impl Failures {
    /// Returns whether all of the data is null.
    fn is_void(&self) -> bool {
        self.nulls.contains(&Vec::new())
    }

    /// Makes all of the data null.
    fn void(&mut self) {
        self.nulls = HashSet::from([Vec::new()]);
    }
}

/// Cuts the text of an error that is too long.
pub(super) fn shortened(mut error: ServerError) -> ServerError {
    if let Some((at, _)) = error.message.char_indices().nth(MAX_MESSAGE) {
        error.message.truncate(at);
        error.message.push('…');
    }
    error
}

/// Returns a part of the path of an error: an index if it is a number, as no field has a name of
/// digits.
fn path_segment(name: &str) -> PathSegment {
    match name.parse() {
        Ok(index) => PathSegment::Index(index),
        Err(_) => PathSegment::Field(name.to_owned()),
    }
}

impl QueryLimits {
    pub(super) fn new(
        out_of_time: Box<dyn Fn() -> bool + Send + Sync>,
        max_bytes: usize,
        budget: Budget,
    ) -> Self {
        Self {
            out_of_time,
            max_bytes,
            budget,
            bytes: AtomicUsize::new(0),
            held: Mutex::default(),
            is_exhausted: AtomicBool::new(false),
            failures: Mutex::default(),
        }
    }

    /// Returns the memory that the response holds.
    pub(super) fn take_held(&self) -> Held {
        std::mem::take(&mut self.held.lock())
    }

    /// Returns the errors of fields, and whether they leave no data.
    pub(super) fn take_failures(&self) -> (Vec<ServerError>, bool) {
        let failures = std::mem::take(&mut *self.failures.lock());
        let is_void = failures.is_void();
        (failures.errors, is_void)
    }

    /// Returns the value of the field at `path`, which is null if it, or a non-null field in it,
    /// has failed.
    fn value_of(
        &self,
        outcome: ServerResult<Option<Value>>,
        path: QueryPathNode<'_>,
        is_required: bool,
    ) -> Option<Value> {
        let mut failures = self.failures.lock();
        let is_full = failures.errors.len() >= MAX_ERRORS;

        let error = match outcome {
            // Paths are built only once something has failed.
            Ok(value) if failures.nulls.is_empty() => return value,
            // Nothing can change the response any longer.
            Err(_) if is_full && failures.is_void() => return Some(Value::Null),
            Ok(value) if !failures.nulls.contains(&path.to_string_vec()) => return value,
            Ok(_) => None,
            Err(error) => Some(error),
        };

        let mut names = path.to_string_vec();
        if let Some(error) = error
            && !is_full
        {
            let mut error = shortened(error);
            error.path = names.iter().map(|name| path_segment(name)).collect();
            failures.errors.push(error);
        }

        // The field is non-null, so its parent becomes null.
        if is_required {
            names.pop();
            // Paths count towards the memory of the response.
            match self.take(names.iter().map(|name| NAME_BYTES + name.len()).sum()) {
                Ok(()) => drop(failures.nulls.insert(names)),
                Err(_) => failures.void(),
            }
        }

        if self.is_exhausted.load(Ordering::Relaxed) {
            failures.void();
        }

        Some(Value::Null)
    }

    fn check(&self) -> Result<(), &'static str> {
        if (self.out_of_time)() {
            Err("execution timeout")
        } else {
            Ok(())
        }
    }

    /// Counts a value, and the length of the name that it has in the response.
    fn count(&self, name: usize, value: Option<&Value>) -> Result<(), String> {
        let text = match value {
            Some(Value::String(text)) => text.len(),
            _ => 0,
        };
        self.take(VALUE_BYTES + name + text)
    }

    /// Takes more memory for the response. An error is the reason why the whole response is
    /// refused.
    fn take(&self, own: usize) -> Result<(), String> {
        let bytes = self.bytes.fetch_add(own, Ordering::Relaxed) + own;
        let refused = if bytes > self.max_bytes {
            format!(
                "response too large: it exceeds {} bytes; ask for less",
                self.max_bytes
            )
        } else if self.budget.try_grow(&mut self.held.lock(), bytes) {
            return Ok(());
        } else {
            "response too large for the memory that is left; try again".to_owned()
        };

        self.is_exhausted.store(true, Ordering::Relaxed);
        Err(refused)
    }

    /// The approximate length of the response.
    pub(super) fn length(&self) -> usize {
        self.bytes.load(Ordering::Relaxed).min(self.max_bytes)
    }
}

/// Applies [`QueryLimits`] to every field.
pub(super) struct Limited;

impl ExtensionFactory for Limited {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Extension for Limited {
    async fn resolve(
        &self,
        context: &ExtensionContext<'_>,
        info: ResolveInfo<'_>,
        next: NextResolve<'_>,
    ) -> ServerResult<Option<Value>> {
        let position = info.field.name.pos;
        let limits = context
            .data::<Arc<QueryLimits>>()
            .map_err(|error| error.into_server_error(position))?;
        let path = *info.path_node;
        let is_required = info.return_type.ends_with('!');
        let name = info.alias.unwrap_or(info.name).len();
        let refused = |what: String| ServerError::new(what, Some(position));

        // The response is refused as a whole, so that nothing more need be executed.
        if limits.is_exhausted.load(Ordering::Relaxed) {
            return Ok(Some(Value::Null));
        }

        let outcome = match limits.check() {
            Ok(()) => next.run(context, info).await,
            Err(what) => Err(refused(what.to_owned())),
        };
        let outcome = outcome.and_then(|value| {
            limits
                .count(name, value.as_ref())
                .map(|()| value)
                .map_err(refused)
        });

        Ok(limits.value_of(outcome, path, is_required))
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::{QueryPathSegment, parser::parse_query};

    use super::*;

    fn measured(query: &str) -> Result<(), String> {
        let _memory = check_tokens(query)?;
        check_selections(&parse_query(query).map_err(|error| error.to_string())?)
    }

    #[test]
    fn texts_and_comments_have_no_brackets() {
        let brackets = "{".repeat(100);
        for query in [
            format!("{{ a(b: \"{brackets}\") }}"),
            format!("{{ a(b: \"\\\"{brackets}\") }}"),
            format!("{{ a(b: \"\"\"\"{brackets}\\\"\"\"{brackets}\"\"\") }}"),
            format!("{{ a(b: \"\") }} # {brackets}\n"),
        ] {
            assert_eq!(check_tokens(&query), Ok(0), "{query}");
        }
        assert!(check_tokens(&brackets).is_err());
        assert!(check_tokens(&format!("{{ a(b: \"\") {brackets}")).is_err());
        assert!(check_tokens("\"\\").is_ok());
    }

    #[test]
    fn the_number_of_tokens_and_the_length_of_names_are_limited() {
        let list = format!(
            "{{ logs(filter: {{ addresses: [{}] }}) {{ index }} }}",
            "1,".repeat(MAX_TOKENS)
        );
        assert!(check_tokens(&list).unwrap_err().contains("tokens"));

        let data = format!(
            "mutation {{ sendRawTransaction(data: \"0x{}\") }}",
            "00".repeat(1 << 17)
        );
        assert_eq!(measured(&data), Ok(()));

        assert_eq!(
            measured(&format!("{{ {}: chainID }}", "a".repeat(MAX_NAME))),
            Ok(())
        );
        assert!(
            measured(&format!("{{ {}: chainID }}", "a".repeat(MAX_NAME + 1)))
                .unwrap_err()
                .contains("256 bytes")
        );
    }

    #[test]
    fn a_response_that_does_not_fit_is_void_as_a_whole() {
        let limits = QueryLimits::new(Box::new(|| false), 10_000, Budget::default());
        for index in 0..1_000 {
            let fields = ["blocks".to_owned(), index.to_string()];
            let outer = QueryPathNode {
                parent: None,
                segment: QueryPathSegment::Name(&fields[0]),
            };
            let path = QueryPathNode {
                parent: Some(&outer),
                segment: QueryPathSegment::Name(&fields[1]),
            };
            limits.value_of(Err(ServerError::new("failed", None)), path, true);
        }

        assert!(
            limits.is_exhausted.load(Ordering::Relaxed),
            "paths of failed fields count"
        );
        let (errors, is_void) = limits.take_failures();
        assert!(is_void && errors.len() == MAX_ERRORS);

        let long = shortened(ServerError::new("ä".repeat(5_000), None));
        assert_eq!(long.message.chars().count(), MAX_MESSAGE + 1);
    }

    #[test]
    fn fragments_are_counted_wherever_they_are_used() {
        let mut query = String::from("{ ...f0 } ");
        for level in 0..30 {
            query += &format!(
                "fragment f{level} on Query {{ ...f{} ...f{} }} ",
                level + 1,
                level + 1
            );
        }
        query += "fragment f30 on Query { chainID }";

        assert!(
            measured(&query)
                .unwrap_err()
                .contains("more than 5000 selections")
        );
        assert!(
            measured("{ ...f } fragment f on Query { ...f }")
                .unwrap_err()
                .contains("contains itself")
        );
    }

    fn nested(depth: usize) -> String {
        format!(
            "{{ block {} }}",
            "{ parent ".repeat(depth - 2) + "{ number " + &"}".repeat(depth - 1)
        )
    }

    #[test]
    fn depth_is_limited() {
        assert_eq!(measured(&nested(20)), Ok(()));
        assert!(measured(&nested(21)).unwrap_err().contains("depth 21"));
    }
}
