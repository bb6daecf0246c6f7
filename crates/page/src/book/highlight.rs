//! Blocks of code with their parts as classes, for the colours of the style sheet.
//!
//! One reader for all languages of the book: it knows comments, texts, numbers and keywords, and
//! leaves the rest as it is. The security policy forbids inline styles, so there are classes only.

use super::escape::escape;

/// The syntax of a language, as far as it is highlighted.
struct Language {
    /// The beginning of a comment that ends with the line.
    line_comment: &'static str,
    /// Whether there are comments between `/*` and `*/`.
    has_block_comments: bool,
    /// The characters that enclose a text.
    quotes: &'static [char],
    keywords: &'static [&'static str],
    words: Words,
    /// Whether a text before a colon is the name of a member.
    has_quoted_names: bool,
}

/// The characters that make up a word.
#[derive(Clone, Copy, PartialEq)]
enum Words {
    /// Letters, digits and underscores, as in most languages.
    Identifiers,
    /// Everything up to the next space, as in a shell: flags, names of variables, whole numbers.
    Arguments,
}

const SHELL: Language = Language {
    line_comment: "#",
    has_block_comments: false,
    quotes: &['"', '\''],
    keywords: &[
        "case", "do", "done", "elif", "else", "esac", "exit", "export", "fi", "for", "if", "in",
        "then", "while",
    ],
    words: Words::Arguments,
    has_quoted_names: false,
};

const JAVASCRIPT: Language = Language {
    line_comment: "//",
    has_block_comments: true,
    quotes: &['"', '\'', '`'],
    keywords: &[
        "as",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "default",
        "do",
        "else",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "from",
        "function",
        "if",
        "import",
        "in",
        "interface",
        "let",
        "new",
        "null",
        "of",
        "return",
        "static",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "type",
        "typeof",
        "undefined",
        "var",
        "while",
        "yield",
    ],
    words: Words::Identifiers,
    has_quoted_names: false,
};

const SOLIDITY: Language = Language {
    line_comment: "//",
    has_block_comments: true,
    quotes: &['"', '\''],
    keywords: &[
        "abstract",
        "address",
        "anonymous",
        "bool",
        "break",
        "bytes",
        "bytes32",
        "bytes4",
        "calldata",
        "constant",
        "constructor",
        "continue",
        "contract",
        "delete",
        "do",
        "else",
        "emit",
        "enum",
        "error",
        "event",
        "external",
        "fallback",
        "false",
        "for",
        "function",
        "if",
        "immutable",
        "import",
        "indexed",
        "int256",
        "interface",
        "internal",
        "is",
        "library",
        "mapping",
        "memory",
        "modifier",
        "new",
        "override",
        "payable",
        "pragma",
        "private",
        "public",
        "pure",
        "receive",
        "return",
        "returns",
        "revert",
        "solidity",
        "storage",
        "string",
        "struct",
        "true",
        "try",
        "uint",
        "uint128",
        "uint16",
        "uint256",
        "uint32",
        "uint40",
        "uint64",
        "uint8",
        "uint80",
        "unchecked",
        "using",
        "view",
        "virtual",
        "while",
    ],
    words: Words::Identifiers,
    has_quoted_names: false,
};

const RUST: Language = Language {
    line_comment: "//",
    has_block_comments: true,
    // A lifetime begins with an apostrophe.
    quotes: &['"'],
    keywords: &[
        "as", "async", "await", "break", "const", "continue", "else", "enum", "false", "fn", "for",
        "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "return", "self",
        "static", "struct", "trait", "true", "type", "use", "where", "while",
    ],
    words: Words::Identifiers,
    has_quoted_names: false,
};

const JSON: Language = Language {
    line_comment: "",
    has_block_comments: false,
    quotes: &['"'],
    keywords: &["false", "null", "true"],
    words: Words::Identifiers,
    has_quoted_names: true,
};

const TOML: Language = Language {
    line_comment: "#",
    has_block_comments: false,
    quotes: &['"', '\''],
    keywords: &["false", "true"],
    words: Words::Identifiers,
    has_quoted_names: false,
};

/// The language of a name that a block of code begins with.
fn language(name: &str) -> Option<&'static Language> {
    match name {
        "sh" | "bash" => Some(&SHELL),
        "js" | "ts" | "javascript" | "typescript" => Some(&JAVASCRIPT),
        "solidity" => Some(&SOLIDITY),
        "rust" => Some(&RUST),
        "json" => Some(&JSON),
        "toml" => Some(&TOML),
        _ => None,
    }
}

/// Code as HTML: comments, texts, numbers and keywords are spans of that class. The text stays the
/// same, so that what is copied is what was written.
pub(super) fn highlight(code: &str, name: &str) -> String {
    let Some(language) = language(name) else {
        return escape(code);
    };

    let mut html = String::with_capacity(code.len() * 2);
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let (length, class) = language.part(rest, first);
        let (part, after) = rest.split_at(length);

        match class {
            Some(class) => {
                html.push_str(&format!("<span class=\"{class}\">{}</span>", escape(part)));
            }
            None => html.push_str(&escape(part)),
        }
        rest = after;
    }
    html
}

impl Language {
    /// The length in bytes of the part with which a text begins, and its class. `first` is the
    /// text's first character.
    fn part(&self, text: &str, first: char) -> (usize, Option<&'static str>) {
        if let Some(length) = self.comment(text) {
            return (length, Some("comment"));
        }
        if self.quotes.contains(&first) {
            let length = quoted(text, first);
            let is_key = self.has_quoted_names && text[length..].starts_with(':');
            return (length, Some(if is_key { "name" } else { "string" }));
        }

        let length: usize = text
            .chars()
            .take_while(|letter| self.is_in_word(*letter))
            .map(char::len_utf8)
            .sum();
        if length == 0 {
            return (first.len_utf8(), None);
        }
        (length, self.class_of(&text[..length]))
    }

    /// The length of the comment with which a text begins.
    fn comment(&self, text: &str) -> Option<usize> {
        let end_of = |end: &str| text.find(end).unwrap_or(text.len());
        if !self.line_comment.is_empty() && text.starts_with(self.line_comment) {
            return Some(end_of("\n"));
        }
        if self.has_block_comments && text.starts_with("/*") {
            return Some((end_of("*/") + "*/".len()).min(text.len()));
        }
        None
    }

    fn is_in_word(&self, letter: char) -> bool {
        match self.words {
            Words::Identifiers => letter.is_alphanumeric() || letter == '_',
            Words::Arguments => {
                !letter.is_whitespace()
                    && !self.quotes.contains(&letter)
                    && !";|&()<>".contains(letter)
            }
        }
    }

    fn class_of(&self, word: &str) -> Option<&'static str> {
        if self.keywords.contains(&word) {
            return Some("keyword");
        }
        if is_number(word) {
            return Some("number");
        }
        if self.words == Words::Arguments && word.starts_with(['-', '$']) {
            return Some("name");
        }
        None
    }
}

/// The length of the text in quotes with which `text` begins. One that does not end goes on to the
/// end of the code.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !is_escaped {
            return at + letter.len_utf8();
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

/// Whether a word is a whole number, in decimal or hexadecimal, as with a suffix such as `1n`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_suffix('n').unwrap_or(word).replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(code: &str, language: &str) -> Vec<(String, String)> {
        highlight(code, language)
            .split("<span class=\"")
            .skip(1)
            .map(|span| {
                let (class, rest) = span.split_once("\">").expect("a class");
                let (text, _) = rest.split_once("</span>").expect("an end");
                (class.to_owned(), text.to_owned())
            })
            .collect()
    }

    fn assert_parts(code: &str, language: &str, expected: &[(&str, &str)]) {
        let parts = parts(code, language);
        let parts: Vec<_> = parts
            .iter()
            .map(|(class, text)| (class.as_str(), text.as_str()))
            .collect();
        assert_eq!(parts, expected, "{language}");
    }

    #[test]
    fn each_language_has_its_own_parts() {
        assert_parts(
            "curl -s localhost:8545/a?b=1 'x # y' $HOME # why\nsleep 5",
            "sh",
            &[
                ("name", "-s"),
                ("string", "'x # y'"),
                ("name", "$HOME"),
                ("comment", "# why"),
                ("number", "5"),
            ],
        );
        assert_parts(
            "const a = 'it\\'s'; // b\n/* c\nd */ f(10n)",
            "js",
            &[
                ("keyword", "const"),
                ("string", "'it\\'s'"),
                ("comment", "// b"),
                ("comment", "/* c\nd */"),
                ("number", "10n"),
            ],
        );
        assert_parts(
            "function a(uint256 b) view",
            "solidity",
            &[
                ("keyword", "function"),
                ("keyword", "uint256"),
                ("keyword", "view"),
            ],
        );
        assert_parts(
            "{ \"a\": \"b\", \"c\": 0x1f, \"d\": null }",
            "json",
            &[
                ("name", "&quot;a&quot;"),
                ("string", "&quot;b&quot;"),
                ("name", "&quot;c&quot;"),
                ("number", "0x1f"),
                ("name", "&quot;d&quot;"),
                ("keyword", "null"),
            ],
        );
        assert_parts(
            "a = true # b",
            "toml",
            &[("keyword", "true"), ("comment", "# b")],
        );
        assert_parts("if 1", "text", &[]);
    }

    #[test]
    fn the_text_stays_the_same_whatever_it_is() {
        for code in [
            "\"open",
            "'é",
            "/* open",
            "/*",
            "a\\",
            "\u{1f980} + '\\",
            "<b>&amp;",
        ] {
            for language in ["sh", "js", "solidity", "rust", "json", "toml", "text", ""] {
                let html = highlight(code, language);
                let text: String = html
                    .split('<')
                    .enumerate()
                    .map(|(at, part)| match at {
                        0 => part,
                        _ => part.split_once('>').map_or("", |(_, text)| text),
                    })
                    .collect();
                assert_eq!(text, escape(code), "{language}: {html}");
            }
        }
    }
}
