//! What the text of a source file says, read with grammars. Pure: a text goes in, facts come out.

pub(crate) mod contract;
