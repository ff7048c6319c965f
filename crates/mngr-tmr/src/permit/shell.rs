//! A command line and everything in it.

use tree_sitter::{Node, Parser};

use super::word::{self, Variables, Word};
use super::{Judge, NotCovered, absolute, is_below, programs};

/// Variables that change what a program does rather than what it works on.
const POWERFUL: [&str; 9] =
    ["PATH", "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "PAGER", "EDITOR", "PROMPT_COMMAND", "TMPDIR"];
const POWERFUL_PREFIXES: [&str; 4] = ["LD_", "DYLD_", "GIT_", "BASH_FUNC_"];

/// In how many folders a command of one line may run.
const MOST_FOLDERS: usize = 16;

/// Whether all of a command line is covered.
pub(super) fn judge(judge: &Judge<'_>, line: &str, cwd: &str) -> Result<(), NotCovered> {
    let unreadable = || NotCovered("the command line cannot be read".to_owned());
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| unreadable())?;
    let tree = parser.parse(line, None).ok_or_else(unreadable)?;
    if tree.root_node().has_error() {
        return Err(unreadable());
    }
    let mut variables = Variables::new();
    variables.insert("MNGR_AGENT_STATE_DIR".to_owned(), Word::literal(&judge.granted.state_dir));
    variables.insert("MNGR_AGENT_WORK_DIR".to_owned(), Word::literal(&judge.granted.work_dir));
    variables.insert("PWD".to_owned(), Word::literal(cwd));
    let folders = vec![cwd.to_owned()];
    Reading { judge, source: line, variables, folders }.node(tree.root_node())
}

struct Reading<'j, 'g> {
    judge: &'j Judge<'g>,
    source: &'j str,
    variables: Variables,
    /// The folders that commands may run in: the first, and every one that a `cd` leads to, which may fail or be skipped.
    folders: Vec<String>,
}

type Judged = Result<(), NotCovered>;

impl Reading<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn word(&self, node: Node<'_>) -> Word {
        word::read(node, self.source, &self.variables)
    }

    fn children(&mut self, node: Node<'_>) -> Judged {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        children.into_iter().try_for_each(|child| self.node(child))
    }

    fn node(&mut self, node: Node<'_>) -> Judged {
        match node.kind() {
            "comment" | "heredoc_start" | "heredoc_end" | "file_descriptor" | "variable_name" => Ok(()),
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "do_group"
            | "command_substitution"
            | "string"
            | "concatenation"
            | "heredoc_body"
            | "test_command"
            | "binary_expression"
            | "unary_expression"
            | "parenthesized_expression"
            | "array"
            | "case_item"
            | "case_statement"
            | "process_substitution" => self.children(node),
            // The command comes first: what it assigns is known behind it.
            "redirected_statement" => self.children(node),
            "file_redirect" => self.redirect(node),
            "heredoc_redirect" | "herestring_redirect" => self.children(node),
            "command" => self.command(node),
            "declaration_command" => self.declaration(node),
            "variable_assignment" => self.assignment(node),
            "for_statement" => self.for_statement(node),
            "while_statement" => {
                self.forget_assigned(node);
                self.children(node)
            }
            "word"
            | "raw_string"
            | "string_content"
            | "number"
            | "simple_expansion"
            | "special_variable_name"
            | "test_operator"
            | "regex"
            | "extglob_pattern"
            | "command_name"
            | "ansi_c_string" => Ok(()),
            // `${x:=$(...)}` and the like.
            "expansion" => self.children(node),
            kind => Err(NotCovered(format!(
                "`{}` ({}) is not understood",
                short(self.text(node)),
                kind.replace('_', " ")
            ))),
        }
    }

    fn redirect(&mut self, node: Node<'_>) -> Judged {
        let operator = {
            let mut cursor = node.walk();
            let found = node.children(&mut cursor).find(|child| !child.is_named());
            found.map(|child| self.text(child).to_owned()).unwrap_or_default()
        };
        let Some(destination) = node.child_by_field_name("destination") else { return self.children(node) };
        self.node(destination)?;
        let target = self.word(destination);
        let is_number =
            target.known().is_some_and(|text| text == "-" || text.bytes().all(|b| b.is_ascii_digit()));
        if !operator.contains('>') || (operator.ends_with('&') && is_number) {
            return Ok(());
        }
        self.may_write(&target)
    }

    fn may_write(&self, target: &Word) -> Judged {
        match target.known() {
            _ if target.is_temporary => Ok(()),
            Some(path) if !path.is_empty() && !target.splits => {
                self.folders.iter().try_for_each(|folder| self.judge.writes(path, folder))
            }
            _ => Err(NotCovered(format!("it is not known what is written to: `{}`", short(&target.shown())))),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Judged {
        let name =
            node.child_by_field_name("name").map(|name| self.text(name).to_owned()).unwrap_or_default();
        if POWERFUL.contains(&name.as_str())
            || POWERFUL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        {
            return Err(NotCovered(format!("the variable `{name}` changes what programs do")));
        }
        let value = match node.child_by_field_name("value") {
            Some(value) => {
                self.node(value)?;
                self.word(value)
            }
            None => Word::literal(""),
        };
        // Which of two values it has depends on what ran.
        let value = if self.variables.contains_key(&name) { Word::unknown() } else { value };
        self.variables.insert(name, value);
        Ok(())
    }

    /// What is assigned in a loop is not known at its beginning.
    fn forget_assigned(&mut self, node: Node<'_>) {
        if node.kind() == "variable_assignment"
            && let Some(name) = node.child_by_field_name("name")
        {
            let name = self.text(name).to_owned();
            self.variables.insert(name, Word::unknown());
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
            self.forget_assigned(child);
        }
    }

    fn declaration(&mut self, node: Node<'_>) -> Judged {
        let keyword = node.child(0).map(|child| self.text(child).to_owned()).unwrap_or_default();
        match keyword.as_str() {
            "export" | "local" | "readonly" => self.children(node),
            other => Err(NotCovered(format!("`{other}` is not covered"))),
        }
    }

    fn for_statement(&mut self, node: Node<'_>) -> Judged {
        self.forget_assigned(node);
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
            if child.kind() == "variable_name" {
                // A different word each time.
                let name = self.text(child).to_owned();
                self.variables.insert(name, Word::unknown());
            } else {
                self.node(child)?;
            }
        }
        Ok(())
    }

    fn command(&mut self, node: Node<'_>) -> Judged {
        let mut words = Vec::new();
        let before = self.variables.clone();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
            match child.kind() {
                "variable_assignment" | "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.node(child)?
                }
                "command_name" => {
                    self.children(child)?;
                    words.push(self.word(child));
                }
                _ => {
                    self.node(child)?;
                    words.push(self.word(child));
                }
            }
        }
        // Variables before a command are the command's own.
        if !words.is_empty() {
            self.variables = before;
        }
        let Some(name) = words.first() else { return Ok(()) };
        let Some(name) = name.known().filter(|_| !name.splits).map(str::to_owned) else {
            return Err(NotCovered(format!("it is not known which program `{}` is", short(&name.shown()))));
        };
        if name == "cd" {
            return self.change_folder(&words[1..]);
        }
        let may_write = |target: &Word| self.may_write(target);
        self.folders
            .iter()
            .try_for_each(|cwd| programs::judge(self.judge, &name, &words[1..], cwd, &may_write))
    }

    fn change_folder(&mut self, words: &[Word]) -> Judged {
        let [to] = words else { return Err(NotCovered("`cd` needs one folder".to_owned())) };
        let Some(path) = to.known().filter(|_| !to.splits) else {
            return Err(NotCovered("it is not known where `cd` leads".to_owned()));
        };
        let mut next = Vec::new();
        for folder in &self.folders {
            let path = absolute(path, folder);
            if !is_below(&path, &self.judge.granted.work_dir) {
                return Err(NotCovered(format!("`cd` leads out of the work dir, to `{path}`")));
            }
            next.push(path);
        }
        next.retain(|path| !self.folders.contains(path));
        self.folders.extend(next);
        self.variables.insert("PWD".to_owned(), Word::unknown());
        match self.folders.len() > MOST_FOLDERS {
            true => Err(NotCovered("there are too many `cd` in it".to_owned())),
            false => Ok(()),
        }
    }
}

/// The beginning of a text, for a message.
pub(super) fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
