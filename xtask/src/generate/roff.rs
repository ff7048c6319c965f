//! Text in the form that `man` reads.

/// A page being written.
#[derive(Debug, Default)]
pub(crate) struct Roff {
    text: String,
    /// Whether the last line was a heading, which brings its own space.
    is_fresh: bool,
}

impl Roff {
    /// A page with its title line. The date is that of the form, not of the writing: a page must not change by itself.
    pub(crate) fn page(name: &str, section: u8, version: &str) -> Self {
        let mut page = Self::default();
        page.raw(&format!(".\\\" {}", super::NOTE));
        let title = escaped(&name.to_uppercase());
        page.raw(&format!(".TH \"{title}\" \"{section}\" \"{DATE}\" \"mngr {version}\" \"mngr manual\""));
        // Neither words broken at the end of a line nor lines of equal length: much of it is to be typed.
        page.raw(".nh");
        page.raw(".ad l");
        page
    }

    /// A heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.raw(&format!(".SH \"{}\"", escaped(text)));
    }

    /// The line that says what the page is about.
    pub(crate) fn name(&mut self, name: &str, about: &str) {
        self.heading("NAME");
        self.raw(&format!("{} \\- {}", escaped(name), escaped(about)));
    }

    /// A paragraph, a space before it.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.gap();
        self.line(text);
    }

    /// Text that goes on where the last one ended.
    pub(crate) fn line(&mut self, text: &str) {
        for line in text.lines() {
            self.raw(&guarded(&escaped(line)));
        }
    }

    /// A term and what it means.
    pub(crate) fn definition(&mut self, term: &str, texts: &[String]) {
        self.raw(".TP");
        self.raw(&format!("\\fB{}\\fR", escaped(term)));
        for (place, text) in texts.iter().enumerate() {
            if place > 0 {
                self.raw(".br");
            }
            self.line(text);
        }
    }

    /// Lines that are shown as they are.
    pub(crate) fn verbatim<'l>(&mut self, lines: impl IntoIterator<Item = &'l str>) {
        self.gap();
        self.raw(".nf");
        for line in lines {
            self.raw(&guarded(&escaped(line)));
        }
        self.raw(".fi");
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn gap(&mut self) {
        if !self.is_fresh {
            self.raw(".PP");
        }
    }

    fn raw(&mut self, line: &str) {
        self.is_fresh = line.starts_with(".SH");
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The day the form of the pages was settled.
const DATE: &str = "2026-11-15";

/// Text without anything that roff would act on.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\e"),
            '-' => safe.push_str("\\-"),
            '\'' => safe.push_str("\\(aq"),
            '"' => safe.push_str("\\(dq"),
            '`' => safe.push_str("\\(ga"),
            '^' => safe.push_str("\\(ha"),
            '~' => safe.push_str("\\(ti"),
            c if c.is_ascii() => safe.push(c),
            c => safe.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    safe
}

/// A line that roff does not take for a request. An empty one would be a warning.
fn guarded(line: &str) -> String {
    if line.is_empty() || line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_request() {
        let mut page = Roff::default();
        page.line(".SH `it's` a\\b -x ~é");
        assert_eq!(page.finish(), "\\&.SH \\(gait\\(aqs\\(ga a\\eb \\-x \\(ti\\[u00E9]\n");
    }

    #[test]
    fn a_term_stands_above_its_text() {
        let mut page = Roff::default();
        page.definition("--a <B>", &["One".to_owned(), "Two".to_owned()]);
        assert_eq!(page.finish(), ".TP\n\\fB\\-\\-a <B>\\fR\nOne\n.br\nTwo\n");
    }
}
