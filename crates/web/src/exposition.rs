//! Metrics as text, in the format that Prometheus reads (text exposition format 0.0.4).
//!
//! Values are read where they are, on request. The crate `prometheus` keeps a second copy of
//! each in a registry; `prometheus-client` writes another format, OpenMetrics.

use std::fmt::{Display, Write};

use tetrad_stdx::metrics::Distribution;

/// The content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text. The samples of a name have to be consecutive.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// A counter; its name ends in `_total`.
    pub fn counter(&mut self, name: &str, help: &str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    /// A gauge.
    pub fn gauge(&mut self, name: &str, help: &str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    /// A histogram; its name ends in a unit.
    pub fn histogram(&mut self, name: &str, help: &str) -> Family<'_> {
        self.family(name, "histogram", help)
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) -> Family<'_> {
        // Writing to a string cannot fail; here and below.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family {
            name: name.to_owned(),
            out: &mut self.0,
        }
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// The samples of one name.
#[derive(Debug)]
pub struct Family<'a> {
    name: String,
    out: &'a mut String,
}

/// Names and values of the labels of a sample.
pub(crate) type Labels<'a> = [(&'a str, &'a str)];

impl Family<'_> {
    /// A sample.
    pub fn sample(&mut self, labels: &Labels<'_>, value: impl Display) -> &mut Self {
        self.line("", labels, None, value);
        self
    }

    /// The samples of a distribution.
    pub fn distribution(&mut self, labels: &Labels<'_>, seen: &Distribution) -> &mut Self {
        for (bound, count) in &seen.buckets {
            self.line("_bucket", labels, Some(&bound.to_string()), count);
        }
        self.line("_bucket", labels, Some("+Inf"), seen.count);
        self.line("_sum", labels, None, seen.sum);
        self.line("_count", labels, None, seen.count);
        self
    }

    fn line(
        &mut self,
        suffix: &str,
        labels: &Labels<'_>,
        bound: Option<&str>,
        value: impl Display,
    ) {
        let _ = write!(self.out, "{}{suffix}", self.name);

        let all = labels
            .iter()
            .copied()
            .chain(bound.map(|bound| ("le", bound)));
        for (at, (name, value)) in all.enumerate() {
            // The text format escapes these three characters in values of labels.
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            let _ = write!(
                self.out,
                "{}{name}=\"{value}\"",
                if at == 0 { '{' } else { ',' }
            );
        }

        let _ = writeln!(
            self.out,
            "{} {value}",
            if labels.is_empty() && bound.is_none() {
                ""
            } else {
                "}"
            }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_read_as_the_format_wants_them() {
        let mut out = Exposition::default();
        out.counter("a_total", "How many.")
            .sample(&[], 3)
            .sample(&[("x", "1\"\\\n")], 4);

        let seen = Distribution {
            buckets: vec![(0.5, 1)],
            count: 2,
            sum: 1.25,
        };
        out.histogram("b_seconds", "How long.")
            .distribution(&[("m", "n")], &seen);

        let expected = "# HELP a_total How many.\n# TYPE a_total counter\na_total 3\na_total{x=\"1\\\"\\\\\\n\"} 4\n\
                        # HELP b_seconds How long.\n# TYPE b_seconds histogram\nb_seconds_bucket{m=\"n\",le=\"0.5\"} 1\n\
                        b_seconds_bucket{m=\"n\",le=\"+Inf\"} 2\nb_seconds_sum{m=\"n\"} 1.25\nb_seconds_count{m=\"n\"} 2\n";

        assert_eq!(out.finish(), expected);
    }
}
