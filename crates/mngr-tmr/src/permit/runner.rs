//! What runs the tests, from the command line that agents are told to run.

use tree_sitter::{Node, Parser};

use super::word::{self, Variables};

/// What may follow the first words of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    /// Anything.
    Any,
    /// A file of the project, then anything: the runner would run any text otherwise.
    FileOfProject,
}

impl Runner {
    pub(super) fn of(words: &[String]) -> Self {
        match words {
            [program] if is_interpreter(program) => Self::FileOfProject,
            _ => Self::Any,
        }
    }
}

/// Whether a program runs whatever text or file it is given.
pub(super) fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        bare,
        "sh" | "bash"
            | "dash"
            | "ash"
            | "ksh"
            | "zsh"
            | "busybox"
            | "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "ruby"
            | "perl"
            | "php"
            | "lua"
            | "Rscript"
    )
}

/// The first words of the commands of a line that run its test: those before any option or file.
pub fn runners_of(line: &str) -> Vec<Vec<String>> {
    let mut parser = Parser::new();
    if parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_err() {
        return Vec::new();
    }
    let Some(tree) = parser.parse(line, None).filter(|tree| !tree.root_node().has_error()) else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    find(tree.root_node(), line, &mut commands);
    // What prepares the run comes before it.
    let mut found: Vec<Vec<String>> = commands.pop().map(|words| beginning(&words)).into_iter().collect();
    found.retain(|words| !words.is_empty());
    // The same by its other names.
    if let Some([_, dash, module]) = found.first().map(Vec::as_slice)
        && dash == "-m"
    {
        let module = module.clone();
        for program in ["python", "python3"] {
            found.push(vec![program.to_owned(), "-m".to_owned(), module.clone()]);
        }
        found.push(vec![module]);
    }
    found.dedup();
    found
}

/// The commands of the line itself, not those in substitutions.
fn find(node: Node<'_>, source: &str, commands: &mut Vec<Vec<String>>) {
    if node.kind() == "command" {
        let mut cursor = node.walk();
        let words = node
            .named_children(&mut cursor)
            .filter(|child| !child.kind().ends_with("_redirect") && child.kind() != "variable_assignment")
            .map(|child| word::read(child, source, &Variables::new()).known().unwrap_or("/").to_owned());
        commands.push(words.collect());
        return;
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
        find(child, source, commands);
    }
}

fn beginning(words: &[String]) -> Vec<String> {
    match words {
        [python, dash, module, ..] if dash == "-m" => vec![python.clone(), dash.clone(), module.clone()],
        [npx, no, dashes, tool, ..] if npx == "npx" && no == "--no" && dashes == "--" => {
            vec![npx.clone(), no.clone(), dashes.clone(), tool.clone()]
        }
        [program, ..] if is_interpreter(program) => vec![program.clone()],
        [program, rest @ ..] => {
            let is_plain = |word: &&String| !word.starts_with('-') && !word.contains(['/', '.', ':', '=']);
            std::iter::once(program).chain(rest.iter().take_while(is_plain)).cloned().collect()
        }
        [] => Vec::new(),
    }
}
