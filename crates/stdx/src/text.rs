//! Text of clients and contracts in messages.

/// Returns the first `max_chars` characters of a text, or all of it if it has no more.
///
/// ```
/// use tetrad_stdx::text::excerpt;
///
/// assert_eq!(excerpt("überlang", 4), "über");
/// assert_eq!(excerpt("short", 100), "short");
/// ```
pub fn excerpt(text: &str, max_chars: usize) -> &str {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
