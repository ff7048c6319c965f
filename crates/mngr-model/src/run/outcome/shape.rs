//! What the declared types look like, as data: the one description that schema, text and validator read.

/// The longest text in characters, whatever its words.
pub(super) const MAX_CHARS: usize = 8_000;

/// The longest [`Kind::Label`] in characters.
pub(super) const MAX_LABEL_CHARS: usize = 80;

/// The longest [`Kind::TestName`] in characters.
pub(super) const MAX_TEST_CHARS: usize = 1_000;

/// The longest [`Kind::SourcePath`] in characters.
pub(super) const MAX_PATH_CHARS: usize = 300;

/// A type with a kind.
pub(super) trait Described {
    /// What its JSON looks like.
    const KIND: Kind;
    /// Whether a field of this type must be there.
    const NEED: Need = Need::Required;
}

/// A type that is a JSON object.
pub(super) trait HasShape {
    /// Its fields and rules.
    const SHAPE: Shape;
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// What the JSON of a value looks like.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// One of a few words.
    Choice(&'static [Word]),
    /// True or false.
    Flag,
    /// A whole number from 1 on.
    Count,
    /// Text of so many words.
    Markdown { words: usize },
    /// One short line.
    Label,
    /// The name of a test in one line.
    TestName,
    /// A path below the root of the repository.
    SourcePath,
    /// A list of objects.
    List(&'static Shape),
}

/// A word and what it means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) word: &'static str,
    pub(super) about: &'static str,
}

/// A JSON object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) fields: &'static [Field],
    pub(super) rules: &'static [Rule],
    /// How many of them a list may hold.
    pub(super) at_most: usize,
    /// The field in which no two entries of a list are alike.
    pub(super) unlike_in: Option<&'static str>,
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) need: Need,
    pub(super) kind: Kind,
}

/// When a field holds this word, the demands apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) field: &'static str,
    pub(super) is: &'static str,
    pub(super) then: &'static [Demand],
}

/// What a rule asks of another field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Present(&'static str),
    True(&'static str),
    Empty(&'static str),
    NonEmpty(&'static str),
    AtMostWords(&'static str, usize),
}

impl Demand {
    /// The field it is about.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Present(field)
            | Self::True(field)
            | Self::Empty(field)
            | Self::NonEmpty(field)
            | Self::AtMostWords(field, _) => field,
        }
    }

    /// What it asks, to follow "must".
    pub(super) fn in_words(self) -> String {
        match self {
            Self::Present(_) => "be there".to_owned(),
            Self::True(_) => "be `true`".to_owned(),
            Self::Empty(_) => "be empty".to_owned(),
            Self::NonEmpty(_) => "have at least one entry".to_owned(),
            Self::AtMostWords(_, words) => format!("have at most {words} words"),
        }
    }
}

impl Described for bool {
    const KIND: Kind = Kind::Flag;
}

impl Described for std::num::NonZeroU32 {
    const KIND: Kind = Kind::Count;
}

impl<T: Described> Described for Option<T> {
    const KIND: Kind = T::KIND;
    const NEED: Need = Need::Optional;
}

impl<T: HasShape> Described for Vec<T> {
    const KIND: Kind = Kind::List(&T::SHAPE);
    const NEED: Need = Need::Optional;
}
