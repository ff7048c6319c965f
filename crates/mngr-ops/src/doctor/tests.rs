//! Each check, by breaking what it looks at and having it mended.
