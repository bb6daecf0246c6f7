//! CometBFT's query language over events (`libs/pubsub/query/syntax`): conditions joined by `AND`.

use std::cmp::Ordering;

use tetrad_stdx::text::excerpt;

/// Most bytes and conditions of a query. CometBFT's limit is 512 bytes.
const MAX_QUERY: usize = 512;
const MAX_CONDITIONS: usize = 16;

/// A query: conditions, all of which have to be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventQuery {
    conditions: Vec<EventCondition>,
}

/// A condition on the values of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EventCondition {
    /// Type and name of the attribute: `transfer.recipient`.
    key: String,
    test: EventTest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EventTest {
    Exists,
    Equals(String),
    Contains(String),
    /// A comparison with a number: those results that it accepts.
    Number(u64, &'static [Ordering]),
}

const EQUAL: &[Ordering] = &[Ordering::Equal];
const LESS: &[Ordering] = &[Ordering::Less];
const GREATER: &[Ordering] = &[Ordering::Greater];
const AT_MOST: &[Ordering] = &[Ordering::Less, Ordering::Equal];
const AT_LEAST: &[Ordering] = &[Ordering::Greater, Ordering::Equal];

impl EventQuery {
    /// Reads a query. The error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_QUERY {
            return Err(format!("a query may have at most {MAX_QUERY} bytes"));
        }
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err("the query is empty".to_owned());
        }

        let mut conditions = Vec::new();
        loop {
            let (condition, after) = EventCondition::parse(rest)?;
            conditions.push(condition);
            if after.is_empty() {
                return Ok(Self { conditions });
            }
            if conditions.len() == MAX_CONDITIONS {
                return Err(format!(
                    "a query may have at most {MAX_CONDITIONS} conditions"
                ));
            }
            let next = after
                .strip_prefix("AND")
                .filter(|next| next.starts_with(char::is_whitespace));
            rest = next
                .ok_or_else(|| format!("expected AND before {:?}", shown(after)))?
                .trim_start();
        }
    }

    /// Returns whether every condition is met by one of the values that `values` returns for its
    /// key.
    pub(super) fn matches<'a>(&self, mut values: impl FnMut(&str) -> Vec<&'a str>) -> bool {
        self.conditions.iter().all(|condition| {
            values(&condition.key)
                .into_iter()
                .any(|value| condition.accepts(value))
        })
    }

    /// Iterates over the attributes of all conditions.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.conditions
            .iter()
            .map(|condition| condition.key.as_str())
    }

    /// Returns the text that the attribute has to equal, if a condition demands that.
    pub(super) fn equal(&self, key: &str) -> Option<&str> {
        self.equals()
            .find(|(own, _)| *own == key)
            .map(|(_, text)| text)
    }

    /// Iterates over the attributes that have to equal a text.
    pub(super) fn equals(&self) -> impl Iterator<Item = (&str, &str)> {
        self.conditions
            .iter()
            .filter_map(|condition| match &condition.test {
                EventTest::Equals(text) => Some((condition.key.as_str(), text.as_str())),
                _ => None,
            })
    }

    /// Returns the least and the greatest number that the conditions on an attribute accept. The
    /// least is greater if they accept none.
    pub(super) fn range(&self, key: &str) -> (u64, u64) {
        let mut least = 0;
        let mut greatest = u64::MAX;
        for condition in self
            .conditions
            .iter()
            .filter(|condition| condition.key == key)
        {
            let (number, accepted) = match &condition.test {
                EventTest::Number(number, accepted) => (*number, *accepted),
                EventTest::Equals(text) => match text.parse() {
                    Ok(number) => (number, EQUAL),
                    // No height equals a text that is not a number.
                    Err(_) => return (1, 0),
                },
                EventTest::Exists | EventTest::Contains(_) => continue,
            };

            let is_equal = accepted.contains(&Ordering::Equal);
            if !accepted.contains(&Ordering::Greater) {
                match number.checked_sub(u64::from(!is_equal)) {
                    Some(number) => greatest = greatest.min(number),
                    None => return (1, 0),
                }
            }
            if !accepted.contains(&Ordering::Less) {
                match number.checked_add(u64::from(!is_equal)) {
                    Some(number) => least = least.max(number),
                    None => return (1, 0),
                }
            }
        }
        (least, greatest)
    }
}

impl EventCondition {
    /// Reads the condition at the start of a text. Returns the rest as well.
    fn parse(text: &str) -> Result<(Self, &str), String> {
        let end = text
            .find(|letter: char| letter.is_whitespace() || "<>='\"".contains(letter))
            .unwrap_or(text.len());
        let (key, rest) = text.split_at(end);
        if key.is_empty() {
            return Err(format!(
                "expected the name of an attribute before {:?}",
                shown(text)
            ));
        }

        let rest = rest.trim_start();
        let (test, rest) = if let Some(rest) = word(rest, "EXISTS") {
            (EventTest::Exists, rest.trim_start())
        } else if let Some(rest) = word(rest, "CONTAINS") {
            let (text, rest) = quoted(rest.trim_start())?;
            (EventTest::Contains(text.to_owned()), rest)
        } else {
            EventTest::comparison(key, rest)?
        };
        let condition = Self {
            key: key.to_owned(),
            test,
        };
        Ok((condition, rest))
    }

    fn accepts(&self, value: &str) -> bool {
        match &self.test {
            EventTest::Exists => true,
            EventTest::Equals(text) => value == text,
            EventTest::Contains(text) => value.contains(text),
            EventTest::Number(number, accepted) => {
                // An amount has its denomination after the number.
                let end = value
                    .find(|letter: char| !letter.is_ascii_digit())
                    .unwrap_or(value.len());
                value[..end]
                    .parse::<u64>()
                    .is_ok_and(|own| accepted.contains(&own.cmp(number)))
            }
        }
    }
}

impl EventTest {
    /// Reads the comparison of the attribute `key` with a text or a number. Returns the rest as
    /// well.
    fn comparison<'a>(key: &str, text: &'a str) -> Result<(Self, &'a str), String> {
        // The longer operators come first: they begin like the shorter ones.
        let operators = [
            ("<=", AT_MOST),
            (">=", AT_LEAST),
            ("=", EQUAL),
            ("<", LESS),
            (">", GREATER),
        ];
        let found = operators
            .into_iter()
            .find_map(|(name, accepted)| Some((text.strip_prefix(name)?, accepted)));
        let (rest, accepted) =
            found.ok_or_else(|| format!("expected a comparison after {:?}", shown(key)))?;
        let rest = rest.trim_start();

        if rest.starts_with('\'') {
            let (text, rest) = quoted(rest)?;
            if accepted == EQUAL {
                return Ok((Self::Equals(text.to_owned()), rest));
            }
            let number = text.parse().map_err(|_| {
                format!(
                    "{}: only numbers can be compared, got {:?}",
                    shown(key),
                    shown(text)
                )
            })?;
            return Ok((Self::Number(number, accepted), rest));
        }

        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (number, rest) = rest.split_at(end);
        let number = number.parse().map_err(|_| {
            format!(
                "{}: expected a number or a text in single quotes, got {:?}",
                shown(key),
                shown(number)
            )
        })?;
        Ok((Self::Number(number, accepted), rest.trim_start()))
    }
}

/// The rest of a text that begins with a word.
fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)
        .filter(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
}

/// The text in single quotes at the start of another, and the rest.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    let inner = text.strip_prefix('\'');
    let ended = inner.and_then(|inner| inner.split_once('\''));
    let (value, rest) =
        ended.ok_or_else(|| format!("expected a text in single quotes, got {:?}", shown(text)))?;
    Ok((value, rest.trim_start()))
}

/// The part of a query that an error shows.
fn shown(text: &str) -> &str {
    excerpt(text, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, events: &[(&str, &str)]) -> bool {
        let query = EventQuery::parse(query).expect("it is valid");
        query.matches(|key| {
            events
                .iter()
                .filter(|(own, _)| *own == key)
                .map(|(_, value)| *value)
                .collect()
        })
    }

    fn height_range(query: &str) -> (u64, u64) {
        EventQuery::parse(query)
            .expect("it is valid")
            .range("tx.height")
    }

    #[test]
    fn all_conditions_have_to_be_met_by_some_value() {
        let events = [
            ("tm.event", "Tx"),
            ("tx.height", "7"),
            ("transfer.recipient", "a"),
            ("transfer.recipient", "b"),
        ];
        for query in [
            "tm.event='Tx'",
            "tm.event = 'Tx' AND transfer.recipient='b'",
            "tx.height=7",
            "tx.height='7'",
            "tx.height>6 AND tx.height<=7",
            "transfer.recipient EXISTS AND tm.event CONTAINS 'T'",
        ] {
            assert!(matches(query, &events), "{query}");
        }
        for query in [
            "tm.event='tx'",
            "tx.height>7",
            "transfer.sender EXISTS",
            "tm.event='Tx' AND transfer.recipient='c'",
        ] {
            assert!(!matches(query, &events), "{query}");
        }
        assert!(matches(
            "transfer.amount>5",
            &[("transfer.amount", "6ahpx")]
        ));
    }

    #[test]
    fn malformed_queries_are_explained() {
        for (query, what) in [
            ("", "empty"),
            ("tx.height", "expected a comparison"),
            ("='a'", "name of an attribute"),
            ("a='b", "single quotes"),
            ("a=b", "expected a number or a text"),
            ("a='b' OR c='d'", "expected AND"),
            ("a='b' AND", "expected AND"),
            ("a<'b'", "only numbers"),
            ("a CONTAINS 5", "single quotes"),
        ] {
            let error = EventQuery::parse(query).expect_err(query);
            assert!(error.contains(what), "{query}: {error}");
        }
        assert!(EventQuery::parse(&"a".repeat(600)).is_err());
    }

    #[test]
    fn ranges_are_those_of_all_conditions() {
        assert_eq!(height_range("tx.height>5 AND tx.height<=9"), (6, 9));
        assert_eq!(height_range("tx.height='5'"), (5, 5));
        assert_eq!(height_range("a='b'"), (0, u64::MAX));
        for query in [
            "tx.height<0",
            "tx.height='x'",
            "tx.height>18446744073709551615",
        ] {
            let (least, greatest) = height_range(query);
            assert!(least > greatest, "{query}");
        }
    }
}
