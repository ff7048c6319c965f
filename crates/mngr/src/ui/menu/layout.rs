//! How the rows of a menu share the width: in which form they are shown, and how wide each column is.

use mngr_query::{cut, width};

use super::state::Row;

/// Between two columns.
const GAP: &str = "  ";

/// What all rows of a menu have in common.
pub(super) struct Layout {
    /// Which of its forms each row has.
    form: usize,
    /// The columns of that form.
    widths: Vec<usize>,
}

impl Layout {
    /// The fullest form in which every row has room. Where not even the tersest has, its first column is cut: what stands
    /// after it says what the row is like.
    pub(super) fn fit(rows: &[Row], room: usize) -> Self {
        let last = rows.iter().map(|row| row.forms.len()).min().unwrap_or_default().saturating_sub(1);
        let mut layout = Self::of(rows, 0);
        while layout.total() > room && layout.form < last {
            layout = Self::of(rows, layout.form + 1);
        }
        let excess = layout.total().saturating_sub(room);
        if let Some(first) = layout.widths.first_mut() {
            *first = first.saturating_sub(excess).max(1);
        }
        layout
    }

    fn of(rows: &[Row], form: usize) -> Self {
        let mut widths: Vec<usize> = Vec::new();
        for cells in rows.iter().filter_map(|row| row.forms.get(form)) {
            widths.resize(widths.len().max(cells.len()), 0);
            for (widest, cell) in widths.iter_mut().zip(cells) {
                *widest = (*widest).max(width(cell));
            }
        }
        Self { form, widths }
    }

    fn total(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP.len() * self.widths.len().saturating_sub(1)
    }

    /// The row as one line.
    pub(super) fn line(&self, row: &Row) -> String {
        let cells = row.forms.get(self.form).into_iter().flatten().zip(&self.widths);
        let padded = cells.map(|(cell, &wide)| {
            let shown = cut(cell, wide);
            let blanks = " ".repeat(wide.saturating_sub(width(&shown)));
            shown + &blanks
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use mngr_query::CellStyle;

    use super::*;

    fn row(forms: &[&[&str]]) -> Row {
        let cells = |form: &&[&str]| form.iter().map(|&cell| cell.to_owned()).collect();
        Row { forms: forms.iter().map(cells).collect(), style: CellStyle::Plain, can_hide: false }
    }

    fn lines(rows: &[Row], room: usize) -> Vec<String> {
        let layout = Layout::fit(rows, room);
        rows.iter().map(|row| layout.line(row)).collect()
    }

    #[test]
    fn all_rows_have_the_fullest_form_for_which_there_is_room() {
        let rows = [
            row(&[&["short@here", "RUNNING", "web"], &["short", "RUNNING"]]),
            row(&[&["much-longer@here", "WAITING"], &["much-longer", "WAITING"]]),
        ];
        assert_eq!(lines(&rows, 30), ["short@here        RUNNING  web", "much-longer@here  WAITING"]);
        assert_eq!(lines(&rows, 29), ["short        RUNNING", "much-longer  WAITING"]);
    }

    #[test]
    fn the_last_column_stays_where_nothing_fits() {
        let rows = [row(&[&["a-very-long-name", "RUNNING"]]), row(&[&["日本語日本語", "STOPPED"]])];
        assert_eq!(lines(&rows, 16), ["a-very…  RUNNING", "日本語…  STOPPED"]);
        assert_eq!(lines(&rows, 3), ["…  RUNNING", "…  STOPPED"], "the terminal cuts the rest");
        assert_eq!(lines(&[], 10), Vec::<String>::new());
    }
}
