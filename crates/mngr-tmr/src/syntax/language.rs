//! Which language a file is written in, and the grammars there are.

/// A language whose files can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript, with TSX.
    TypeScript,
    /// Go.
    Go,
    /// `sh` and `bash`.
    Shell,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 6] =
        [Self::Python, Self::Rust, Self::JavaScript, Self::TypeScript, Self::Go, Self::Shell];

    /// By the extension of the path, else by the first line of the text.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
        match extension {
            "py" => Some(Self::Python),
            "rs" => Some(Self::Rust),
            "js" | "jsx" | "mjs" | "cjs" => Some(Self::JavaScript),
            "ts" | "tsx" | "mts" | "cts" => Some(Self::TypeScript),
            "go" => Some(Self::Go),
            "sh" | "bash" => Some(Self::Shell),
            _ => Self::of_first_line(text),
        }
    }

    /// By the program of a `#!` line.
    fn of_first_line(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
        let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
        let mut program = name(words.next()?);
        if program == "env" {
            // `env -S NAME=VALUE program` too.
            program = name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
        }
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" | "pypy" => Some(Self::Python),
            "sh" | "bash" | "dash" | "ksh" | "ash" => Some(Self::Shell),
            "node" | "nodejs" => Some(Self::JavaScript),
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Go => "Go",
            Self::Shell => "sh",
        }
    }

    /// Whether a program in this language is built before it runs.
    pub fn is_compiled(self) -> bool {
        matches!(self, Self::Rust | Self::Go)
    }

    /// The grammars that may fit, the likeliest first.
    pub(super) fn grammars(self) -> &'static [Grammar] {
        match self {
            Self::Python => &[Grammar::Python],
            Self::Rust => &[Grammar::Rust],
            Self::JavaScript => &[Grammar::JavaScript],
            Self::TypeScript => &[Grammar::TypeScript, Grammar::Tsx],
            Self::Go => &[Grammar::Go],
            Self::Shell => &[Grammar::Shell],
        }
    }
}

/// What a text is parsed with. TypeScript has two that exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    Python,
    Rust,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Shell,
}

impl Grammar {
    /// The grammar itself.
    pub(super) fn parser(self) -> tree_sitter::Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::JavaScript => tree_sitter_javascript::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Shell => tree_sitter_bash::LANGUAGE,
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_the_language_and_else_the_first_line() {
        for (path, text, language) in [
            ("a/b.py", "", Some(Language::Python)),
            ("a.b/c.tsx", "", Some(Language::TypeScript)),
            ("c.cjs", "", Some(Language::JavaScript)),
            ("bin/todo", "#!/bin/sh -e\n", Some(Language::Shell)),
            ("bin/todo", "#!/usr/bin/env python3.12\n", Some(Language::Python)),
            ("bin/todo", "#!/usr/bin/env -S A=1 node --x\n", Some(Language::JavaScript)),
            ("bin/todo", "#!/usr/bin/perl\n", None),
            ("a.b/todo", "text", None),
            ("README.md", "# sh", None),
        ] {
            assert_eq!(Language::of(path, text), language, "{path}");
        }
    }
}
