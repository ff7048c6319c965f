//! A command that is ended when it prints nothing for too long. A line of `sh` watches it, so that this is the same on
//! every host.

use std::time::Duration;

use mngr_host::git::Pristine;
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::quote::sh_quote;

use super::super::runner::{Guarded, Keep, Order, Printed, RunnerError};
use super::{KEPT_OUTPUT, MOST_TAKEN, WorktreePool, without_lines_about};

impl WorktreePool {
    pub(super) fn run_guarded_in(
        &self,
        slot: &Pristine,
        order: &Order<'_>,
        quiet: Duration,
    ) -> Result<Guarded, RunnerError> {
        let output = self.outputs().join(&random::hex32());
        let sign = HostPath::new(format!("{output}-ended"));
        let line = watched(order.command, &output, &sign, quiet);
        // Where all of the output is wanted, it is in the file that is watched.
        let keep = if order.keep == Keep::Report { Keep::Report } else { Keep::Tail };
        let mut report = self.run_in(slot, &Order { command: &line, keep, ..*order })?;
        let files = self.host.files();
        let bytes = files.stat(&output)?.map_or(0, |stat| stat.size);
        let text = |from: u64, most: usize| match bytes {
            0 => Ok(String::new()),
            _ => files.read_part(&output, from, most).map(|part| String::from_utf8_lossy(&part).into_owned()),
        };
        let tail = text(bytes.saturating_sub(KEPT_OUTPUT as u64), KEPT_OUTPUT)?;
        report.tail = [tail.trim(), report.tail.as_str()].join("\n").trim().to_owned();
        if let Some(printed) = &report.printed {
            report.tail = without_lines_about(printed.path(), report.tail);
        }
        let is_ended = files.exists(&sign)?;
        let ended_after = is_ended.then(|| text(0, MOST_TAKEN)).transpose()?;
        if is_ended {
            report.run.exit = None;
            files.remove_file(&sign)?;
        }
        match order.keep {
            Keep::Everything | Keep::Output => {
                report.printed = Some(Printed::new(self.host.clone(), output));
            }
            Keep::Report | Keep::Tail if bytes > 0 => files.remove_file(&output)?,
            Keep::Report | Keep::Tail => {}
        }
        Ok(Guarded { report, ended_after })
    }
}

/// The line, and beside it a loop that looks once a second whether it has printed anything. The command stays in the
/// foreground: in the background it could not be interrupted any more.
fn watched(command: &str, output: &HostPath, sign: &HostPath, quiet: Duration) -> String {
    let (output, sign, seconds) =
        (sh_quote(output.as_str()), sh_quote(sign.as_str()), quiet.as_secs().max(1));
    format!(
        ": >{output}\n\
         (mngr_size=-1; mngr_quiet=0\n\
         while sleep 1; do\n\
         mngr_now=$(wc -c <{output})\n\
         if [ \"$mngr_now\" = \"$mngr_size\" ]; then mngr_quiet=$((mngr_quiet + 1)); else mngr_size=$mngr_now; mngr_quiet=0; fi\n\
         if [ \"$mngr_quiet\" -ge {seconds} ]; then : >{sign}; kill -s KILL -- \"-$$\"; fi\n\
         done) >/dev/null 2>&1 &\n\
         mngr_watch=$!\n\
         ({command}\n) >{output} 2>&1\n\
         mngr_status=$?\n\
         kill \"$mngr_watch\" 2>/dev/null\n\
         exit \"$mngr_status\""
    )
}
