//! Errors with their causes, the first of which alone is rarely specific.

/// Returns the text of an error and of its causes. Causes that are in the text already are left
/// out.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes
        .map(|cause| cause.to_string())
        .fold(error.to_string(), |text, cause| {
            if text.contains(&cause) {
                text
            } else {
                format!("{text}: {cause}")
            }
        })
}
