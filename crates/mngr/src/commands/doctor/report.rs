//! How findings are shown: the bad ones with why and what to do, the good ones in a line each.

use mngr_ops::doctor::{Finding, Mended, Status};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::ui::output::event;
use crate::ui::theme::Tone;
use crate::ui::{Console, Report};

/// As wide as the longest check.
const CHECK_WIDTH: usize = 13;

/// What was found.
pub(super) struct DoctorReport {
    pub(super) findings: Vec<Finding>,
    pub(super) is_fixing: bool,
}

impl DoctorReport {
    fn count(&self, status: Status) -> usize {
        self.findings.iter().filter(|finding| finding.remaining() == status).count()
    }

    fn fixed(&self) -> usize {
        self.findings.iter().filter(|finding| matches!(finding.mended, Mended::Done(_))).count()
    }

    fn fixable(&self) -> usize {
        let is_open = |finding: &&Finding| finding.is_fixable() && !matches!(finding.mended, Mended::Done(_));
        self.findings.iter().filter(is_open).count()
    }

    fn summary(&self) -> String {
        let (fail, warn, fixed) = (self.count(Status::Fail), self.count(Status::Warn), self.fixed());
        let mut text = match (fail, warn) {
            (0, 0) => "Everything is fine".to_owned(),
            (0, warn) => format!("{warn} warning(s)"),
            (fail, 0) => format!("{fail} problem(s)"),
            (fail, warn) => format!("{fail} problem(s), {warn} warning(s)"),
        };
        if fixed > 0 {
            text += &format!("; {fixed} put right");
        }
        match (self.is_fixing, self.fixable()) {
            (false, count) if count > 0 => {
                text += &format!("; `mngr doctor --fix` puts {count} of them right")
            }
            _ => {}
        }
        text
    }

    fn told(&self, console: &Console, finding: &Finding) -> String {
        let colour = console.out_colour();
        let (word, tone) = match (&finding.mended, finding.status) {
            (Mended::Done(_), _) => ("fixed", Tone::Hint),
            (_, Status::Ok) => ("ok", Tone::Dim),
            (_, Status::Warn) => ("warn", Tone::Warning),
            (_, Status::Fail) => ("fail", Tone::Error),
        };
        let host = finding.host.as_ref().filter(|_| finding.status > Status::Ok || self.has_many_hosts());
        let host = host.map(|host| format!(" ({host})")).unwrap_or_default();
        let word = colour.paint(tone, &format!("{word:<5}"));
        let what = sanitize(&finding.what);
        let mut text = format!("{word}  {:<CHECK_WIDTH$}  {what}{host}\n", finding.check);
        let mut line = |label: &str, said: &str| {
            if !said.is_empty() {
                text += &format!("{:7}{:CHECK_WIDTH$}  {label}{}\n", "", "", sanitize(said));
            }
        };
        match &finding.mended {
            Mended::Done(done) => line("", done),
            mended => {
                line("", &finding.why);
                match mended {
                    Mended::Failed(why) => line("not put right: ", why),
                    _ if self.is_fixing && finding.status > Status::Ok => {
                        line("not put right by itself: ", &finding.advice)
                    }
                    _ => line("", &finding.advice),
                }
            }
        }
        text
    }

    fn has_many_hosts(&self) -> bool {
        let mut hosts = self.findings.iter().filter_map(|finding| finding.host.as_ref());
        hosts.next().is_some_and(|first| hosts.any(|host| host != first))
    }
}

impl Report for DoctorReport {
    fn human(&self, console: &Console) -> String {
        let mut text: String = self.findings.iter().map(|finding| self.told(console, finding)).collect();
        text += &format!("{}\n", self.summary());
        text
    }

    fn json(&self) -> Value {
        let worst = self.findings.iter().map(Finding::remaining).max();
        json!({
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "ok": self.count(Status::Ok),
            "warnings": self.count(Status::Warn),
            "failures": self.count(Status::Fail),
            "fixed": self.fixed(),
            "fixable": self.fixable(),
            "is_healthy": worst != Some(Status::Fail),
        })
    }

    fn events(&self) -> Vec<Value> {
        let told = self.findings.iter().map(|found| event("finding", finding(found)));
        let summary = event(
            "summary",
            json!({ "warnings": self.count(Status::Warn), "failures": self.count(Status::Fail), "fixed": self.fixed() }),
        );
        told.chain([summary]).collect()
    }
}

fn finding(finding: &Finding) -> Value {
    let (fixed, detail) = match &finding.mended {
        Mended::No => (false, None),
        Mended::Done(done) => (true, Some(done)),
        Mended::Failed(why) => (false, Some(why)),
    };
    json!({
        "check": finding.check,
        "host": finding.host,
        "status": finding.status.as_str(),
        "what": finding.what,
        "why": finding.why,
        "advice": finding.advice,
        "fixable": finding.is_fixable(),
        "fixed": fixed,
        "fix_detail": detail,
    })
}
