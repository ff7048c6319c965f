//! What reading a test file takes in any language: a parsed tree, a walk through it, and what is wrong with it.

use tree_sitter::{Language, Node, Parser};

use super::citation::{Citation, CitationForm, Reading, ReadingKind, Test, TestId};
use super::problem::{Problem, ProblemKind};

/// The call that cites, in every language.
pub(crate) const CALL: &str = "write_tutorial_block";

/// How much of a text that is not understood is shown.
const SHOWN: usize = 60;

/// What a test file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestFile {
    pub(crate) tests: Vec<Test>,
    pub(crate) problems: Vec<Problem>,
}

/// A string literal of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    /// What the program sees.
    pub(crate) value: String,
    /// What is written between the quotes.
    pub(crate) written: String,
}

impl Literal {
    /// Literals one after another; `None` if there are none, or one of the parts is no literal.
    pub(crate) fn joined(parts: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let parts: Vec<Self> = parts.collect::<Option<_>>()?;
        let join = |text: fn(&Self) -> &str| parts.iter().map(text).collect::<String>();
        let joined = Self { value: join(|part| &part.value), written: join(|part| &part.written) };
        (!parts.is_empty()).then_some(joined)
    }

    /// The written text where it is another one.
    pub(crate) fn written_if_other(&self) -> Option<String> {
        (self.written != self.value).then(|| self.written.clone())
    }
}

/// What a node means for whoever looks for tests.
pub(crate) enum Role {
    /// A class or module, which is part of the names of its tests.
    Scope(String),
    /// A test, and what is cited above its body.
    Test { name: String, citations: Vec<Citation> },
    /// A function that is no test.
    Function,
    /// Nothing below it matters.
    Closed,
    /// None of these.
    Other,
}

/// A source file while it is being read.
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// How a raw string begins in its language.
    raw: &'static str,
    found: TestFile,
    scopes: Vec<String>,
    /// How many functions are around.
    functions: usize,
    /// The test around.
    current: Option<Test>,
}

/// What is still to do. A list and not the stack of calls: how deep a file nests is up to its author.
enum Step<'t> {
    Enter(Node<'t>),
    LeaveScope,
    LeaveFunction,
}

/// Reads a file of a language.
pub(crate) fn read(
    file: &str,
    text: &str,
    language: (&Language, &'static str),
    raw: &'static str,
    role: impl Fn(&mut Source<'_>, Node<'_>) -> Role,
) -> TestFile {
    let mut source = Source {
        file,
        text,
        raw,
        found: TestFile::default(),
        scopes: Vec::new(),
        functions: 0,
        current: None,
    };
    let mut parser = Parser::new();
    let tree = parser.set_language(language.0).ok().and_then(|()| parser.parse(text, None));
    if let Some(tree) = tree {
        source.note_error(tree.root_node(), language.1);
        source.walk(tree.root_node(), role);
    }
    source.found
}

impl<'a> Source<'a> {
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a node's field.
    pub(crate) fn field(&self, node: Node<'_>, name: &str) -> &'a str {
        node.child_by_field_name(name).map(|field| self.text_of(field)).unwrap_or_default()
    }

    /// Whether the walk is inside a function, where no test begins.
    pub(crate) fn is_in_function(&self) -> bool {
        self.functions > 0
    }

    /// A citation by a call at this node; without a literal when its text is only known to the running test.
    pub(crate) fn cite(&mut self, node: Node<'_>, literal: Option<Literal>) {
        let raw = self.raw;
        match (literal, &mut self.current) {
            // A helper that hands on what it was given.
            (None, None) => {}
            (Some(_), None) => self.complain(node, ProblemKind::OutsideTest),
            (None, Some(_)) => self.complain(node, ProblemKind::NotLiteral),
            (Some(literal), Some(test)) => {
                let written = literal.written_if_other();
                let readings = written.map(|text| Reading { kind: ReadingKind::Written { raw }, text });
                test.citations.push(Citation {
                    form: CitationForm::Call,
                    line: line_of(node),
                    text: literal.value,
                    readings: readings.into_iter().collect(),
                });
            }
        }
    }

    fn complain(&mut self, node: Node<'_>, kind: ProblemKind) {
        self.found.problems.push(Problem { file: self.file.to_owned(), line: line_of(node), kind });
    }

    fn note_error(&mut self, root: Node<'_>, language: &'static str) {
        if let Some(node) = first_error(root) {
            let text = self.text_of(node).trim_start().lines().next().unwrap_or_default();
            let text = text.trim_end().chars().take(SHOWN).collect();
            self.complain(node, ProblemKind::Syntax { language, text });
        }
    }

    fn walk(&mut self, root: Node<'_>, role: impl Fn(&mut Self, Node<'_>) -> Role) {
        let mut steps = vec![Step::Enter(root)];
        while let Some(step) = steps.pop() {
            let node = match step {
                Step::Enter(node) => node,
                Step::LeaveScope => {
                    self.scopes.pop();
                    continue;
                }
                Step::LeaveFunction => {
                    self.functions -= 1;
                    if self.functions == 0 {
                        self.found.tests.extend(self.current.take());
                    }
                    continue;
                }
            };
            match role(self, node) {
                Role::Closed => continue,
                Role::Other => {}
                Role::Scope(name) => {
                    self.scopes.push(name);
                    steps.push(Step::LeaveScope);
                }
                Role::Test { name, citations } => {
                    self.begin_test(node, name, citations);
                    steps.push(Step::LeaveFunction);
                }
                Role::Function => {
                    self.functions += 1;
                    steps.push(Step::LeaveFunction);
                }
            }
            steps.extend(children(node).into_iter().rev().map(Step::Enter));
        }
    }

    fn begin_test(&mut self, node: Node<'_>, name: String, citations: Vec<Citation>) {
        let name =
            self.scopes.iter().map(String::as_str).chain([name.as_str()]).collect::<Vec<_>>().join("::");
        let id = TestId { file: self.file.to_owned(), name };
        self.current = Some(Test { id, line: line_of(node), citations });
        self.functions += 1;
    }
}

/// The line a node begins at, counted from 1.
pub(crate) fn line_of(node: Node<'_>) -> usize {
    node.start_position().row + 1
}

/// The children with a name in the grammar, without comments.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.kind().ends_with("comment")).collect()
}

/// The first node, in the order of the text, that is an error or was made up to avoid one.
pub(crate) fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut node = root;
    while node.has_error() {
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        match node.children(&mut node.walk()).find(Node::has_error) {
            Some(below) => node = below,
            None => return Some(node),
        }
    }
    None
}
