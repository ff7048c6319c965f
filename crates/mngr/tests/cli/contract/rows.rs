//! `docs/reference/differences.md` is whole: every row has an id of its own, says why, and is shown by the table or
//! marked as one that the table cannot show.

use std::collections::BTreeSet;

use super::table::World;

const PAGE: &str = include_str!("../../../../../docs/reference/differences.md");

/// What the columns are called.
const HEAD: &str = "| id | where | Python mngr | here | why | to type |";

/// What stands in the last column where the old command line goes on working.
const SAME: &str = "the same";

/// One difference.
pub(super) struct Row {
    pub(super) id: String,
    /// Whether tests of its own show it, and not the table.
    is_broader: bool,
    /// All that follows the id.
    cells: Vec<String>,
}

/// Every row of every table of the page.
pub(super) fn all() -> Vec<Row> {
    let is_head = |line: &&str| line.starts_with("|---") || *line == HEAD;
    let lines = PAGE.lines().filter(|line| line.starts_with('|') && !is_head(line));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    // A bar inside of a cell is written `\|`.
    let inner = line.trim_matches('|').replace("\\|", "\u{0}");
    let mut cells = inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|"));
    let id = cells.next().unwrap_or_default();
    let is_broader = id.ends_with('*');
    Row { id: id.trim_end_matches('*').to_owned(), is_broader, cells: cells.collect() }
}

#[test]
fn every_row_has_an_id_of_its_own_a_reason_and_what_to_type() {
    let mut seen = BTreeSet::new();
    for row in all() {
        let Row { id, cells, .. } = row;
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!id.is_empty() && id.chars().all(is_word), "`{id}` is no id: {cells:?}");
        assert!(seen.insert(id.clone()), "two rows are called `{id}`");
        assert_eq!(cells.len(), HEAD.matches('|').count() - 2, "{id}: cells are missing: {cells:?}");
        for (name, cell) in
            [("where", &cells[0]), ("here", &cells[2]), ("why", &cells[3]), ("to type", &cells[4])]
        {
            assert!(!cell.is_empty(), "{id}: nothing in the column `{name}`");
        }
        let is_gone = cells[2].contains("unknown option") || cells[2].contains("not there");
        assert!(!is_gone || cells[4] != SAME, "{id}: what is not there cannot be typed");
    }
    assert!(seen.len() > 150, "{} rows", seen.len());
}

#[test]
fn every_row_is_shown_by_the_table_or_marked_as_broader() {
    let cited: BTreeSet<String> = World::all_cases().into_iter().flat_map(|case| case.differs).collect();
    for row in all() {
        let is_cited = cited.contains(&row.id);
        assert!(
            is_cited || row.is_broader,
            "no case is about `{}`: add one, or mark it as broader: `{}*`",
            row.id,
            row.id
        );
        assert!(!(is_cited && row.is_broader), "`{}` is shown by the table: it needs no mark", row.id);
    }
}
