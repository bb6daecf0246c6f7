//! The content coding of a response, by what the client accepts (RFC 9110, 12.5.3).

use axum::http::{HeaderMap, HeaderValue, header};

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    /// Its name in `Content-Encoding`.
    pub(super) fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        })
    }
}

/// The codings that a client accepts: weights in thousandths, from 0 for a coding that it refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    brotli: u16,
    gzip: u16,
    /// None if the client neither names nor refuses the absence of a coding.
    identity: Option<u16>,
}

impl Accepted {
    /// Reads `Accept-Encoding`. Returns none if the client takes no coding of ours, in particular
    /// without the header.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(header::ACCEPT_ENCODING)?;
        let mut brotli = None;
        let mut gzip = None;
        let mut identity = None;
        let mut others = None;
        for value in headers.get_all(header::ACCEPT_ENCODING) {
            for element in value.as_bytes().split(|byte| *byte == b',') {
                let Some((coding, weight)) = weighted(element) else {
                    continue;
                };
                let named = match coding {
                    _ if is(coding, "br") => &mut brotli,
                    // `x-gzip` is an old name of gzip (RFC 9110, 8.4.1.3).
                    _ if is(coding, "gzip") || is(coding, "x-gzip") => &mut gzip,
                    _ if is(coding, "identity") => &mut identity,
                    b"*" => &mut others,
                    _ => continue,
                };
                // Of contradictory weights the first one counts.
                named.get_or_insert(weight);
            }
        }

        // `*` stands for every coding that is not named (RFC 9110, 12.5.3).
        let weight = |named: Option<u16>| named.or(others).unwrap_or(0);

        let accepted = Self {
            brotli: weight(brotli),
            gzip: weight(gzip),
            // Identity needs no mention; only weight 0 excludes it (RFC 9110, 12.5.3).
            identity: identity.or(others.filter(|weight| *weight == 0)),
        };
        (accepted.brotli > 0 || accepted.gzip > 0).then_some(accepted)
    }

    /// The coding that the client prefers, and `ours` if it has no preference; `None` for none.
    pub(super) fn choose(self, ours: Coding) -> Option<Coding> {
        let coding = match self.brotli.cmp(&self.gzip) {
            std::cmp::Ordering::Greater => Coding::Brotli,
            std::cmp::Ordering::Less => Coding::Gzip,
            std::cmp::Ordering::Equal => ours,
        };
        // A client may prefer the body as it is.
        let weight = self.brotli.max(self.gzip);
        (weight > 0 && weight >= self.identity.unwrap_or(0)).then_some(coding)
    }

    /// Whether the client wants no body without a coding.
    pub(super) fn refuses_identity(self) -> bool {
        self.identity == Some(0)
    }
}

fn is(coding: &[u8], name: &str) -> bool {
    coding.eq_ignore_ascii_case(name.as_bytes())
}

/// A coding with its weight, `gzip;q=0.5`. Malformed ones are skipped.
fn weighted(element: &[u8]) -> Option<(&[u8], u16)> {
    let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let coding = parts.next().filter(|coding| !coding.is_empty())?;
    match (parts.next(), parts.next()) {
        // A coding without a weight has the greatest (RFC 9110, 12.4.2).
        (None, _) => Some((coding, 1_000)),
        (Some(parameter), None) => {
            let (name, value) = parameter.split_at_checked(2)?;
            name.eq_ignore_ascii_case(b"q=")
                .then(|| thousandths(value))?
                .map(|weight| (coding, weight))
        }
        _ => None,
    }
}

/// A weight such as `1`, `0.5` or `0.125` in thousandths.
fn thousandths(weight: &[u8]) -> Option<u16> {
    // A weight has at most three digits after the point (RFC 9110, 12.4.2).
    let (whole, digits) = match weight {
        [whole @ (b'0' | b'1')] => (*whole, &[][..]),
        [whole @ (b'0' | b'1'), b'.', digits @ ..] if digits.len() <= 3 => (*whole, digits),
        _ => return None,
    };

    let mut sum = u16::from(whole - b'0') * 1_000;
    for (digit, worth) in digits.iter().zip([100, 10, 1]) {
        sum += u16::from(digit.is_ascii_digit().then(|| digit - b'0')?) * worth;
    }

    (sum <= 1_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(values: &[&str]) -> Option<Accepted> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).expect("a value");
            headers.append(header::ACCEPT_ENCODING, value);
        }
        Accepted::of(&headers)
    }

    #[test]
    fn the_coding_with_the_greatest_weight_is_chosen() {
        let br = Some(Coding::Brotli);
        let gzip = Some(Coding::Gzip);
        // The header, the choice if Brotli is ours, and the choice if gzip is.
        let table: [(&[&str], Option<Coding>, Option<Coding>); 33] = [
            (&[], None, None),
            (&[""], None, None),
            (&["identity"], None, None),
            (&["gzip"], gzip, gzip),
            (&["br"], br, br),
            (&["GZip"], gzip, gzip),
            (&["x-gzip"], gzip, gzip),
            (&["gzip, deflate, br, zstd"], br, gzip),
            (&["gzip", "br"], br, gzip),
            (&["gzip;q=1.0, br;q=0.9"], gzip, gzip),
            (&["gzip;q=0.5, br;q=0.501"], br, br),
            (&["gzip ; q=0.2 , br ; Q=0.1"], gzip, gzip),
            (&["*"], br, gzip),
            (&["*;q=0.1"], br, gzip),
            (&["br;q=0, *"], gzip, gzip),
            (&["gzip;q=0, *;q=0.5"], br, br),
            (&["*;q=0"], None, None),
            (&["gzip;q=0"], None, None),
            (&["gzip;q=0.000, br;q=0"], None, None),
            (&["deflate, zstd, compress"], None, None),
            (&["identity;q=0"], None, None),
            (&["identity;q=0, gzip"], gzip, gzip),
            (&["identity;q=0, *"], br, gzip),
            (&["identity;q=1, gzip;q=0.5"], None, None),
            (&["identity;q=0.5, gzip;q=0.5"], gzip, gzip),
            (&["identity;q=0.5, br;q=1"], br, br),
            (&["gzip;q=2, br;q=0.5"], br, br),
            (&["gzip;q=0.1234, br;q=-1"], None, None),
            (&["gzip;q=1.001"], None, None),
            (&["gzip;q=, br;q=x"], None, None),
            (&["gzip;level=9, br;q=1;x=y"], None, None),
            (&[",,gzip,,"], gzip, gzip),
            (&["gzip;q=0, gzip;q=1"], None, None),
        ];

        for (header, with_brotli, with_gzip) in table {
            let chosen = |ours| accepted(header).and_then(|accepted| accepted.choose(ours));
            assert_eq!(chosen(Coding::Brotli), with_brotli, "{header:?}");
            assert_eq!(chosen(Coding::Gzip), with_gzip, "{header:?}");
        }
    }

    #[test]
    fn identity_is_refused_by_name_or_with_everything_else() {
        for (header, refused) in [
            ("gzip", false),
            ("gzip, *", false),
            ("gzip, identity;q=0", true),
            ("gzip, *;q=0", true),
            ("gzip, *;q=0, identity;q=0.1", false),
        ] {
            assert_eq!(
                accepted(&[header]).expect("a coding").refuses_identity(),
                refused,
                "{header}"
            );
        }
    }
}
