//! When a schedule of five fields (minute, hour, day of the month, month, day of the week) comes next.

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

/// How many days ahead a match is looked for: the 29th of February comes within eight years.
const DAYS: usize = 8 * 366;

/// The first minute after `from` that the schedule names, on a clock with this offset; `None` where there is none or the
/// schedule is not understood.
pub(super) fn next(schedule: &str, from: Timestamp, zone: Offset) -> Option<Timestamp> {
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    let [minutes, hours, days, months, weekdays] = fields.as_slice() else { return None };
    let any_day = *days == "*";
    let any_weekday = *weekdays == "*";
    let minutes = numbers(minutes, 0, 59)?;
    let hours = numbers(hours, 0, 23)?;
    let days = numbers(days, 1, 31)?;
    let months = numbers(months, 1, 12)?;
    // Sunday is 0 and 7.
    let weekdays: Vec<u8> = numbers(weekdays, 0, 7)?.into_iter().map(|day| day % 7).collect();
    let fits = |date: Date| {
        let day = days.contains(&date.day().unsigned_abs());
        let weekday = weekdays.contains(&date.weekday().to_sunday_zero_offset().unsigned_abs());
        // Where both are restricted, either will do.
        let is_day = if any_day || any_weekday { day && weekday } else { day || weekday };
        is_day && months.contains(&date.month().unsigned_abs())
    };
    let first = zone.to_datetime(from);
    let mut date = first.date();
    for _ in 0..DAYS {
        if fits(date) {
            let times = hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (*hour, *minute)));
            let at = |(hour, minute): (u8, u8)| date.at(hour.cast_signed(), minute.cast_signed(), 0, 0);
            if let Some(found) = times.map(at).find(|time: &DateTime| *time > first) {
                return zone.to_timestamp(found).ok();
            }
        }
        date = date.checked_add(Span::new().days(1)).ok()?;
    }
    None
}

/// The numbers of a field, in order: `*`, `*/5`, `3`, `1-5`, `1-30/2` and lists of those.
fn numbers(field: &str, least: u8, most: u8) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)?),
            None => (part, 1usize),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
            None if part.contains('/') => (range.parse().ok()?, most),
            None => (range.parse().ok()?, range.parse().ok()?),
        };
        if from < least || to > most {
            return None;
        }
        found.extend((from..=to).step_by(step));
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(from: &str, schedule: &str) -> Option<String> {
        next(schedule, from.parse().unwrap(), Offset::UTC).map(|time| time.to_string())
    }

    #[test]
    fn the_next_minute_that_fits_is_found() {
        let from = "2026-11-18T06:50:30Z";
        for (schedule, wanted) in [
            ("50 6 * * *", "2026-11-19T06:50:00Z"),
            ("51 6 * * *", "2026-11-18T06:51:00Z"),
            ("* * * * *", "2026-11-18T06:51:00Z"),
            ("*/15 * * * *", "2026-11-18T07:00:00Z"),
            ("0 9 * * 1-5", "2026-11-18T09:00:00Z"),
            ("0 9 * * 6,7", "2026-11-21T09:00:00Z"),
            ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
            ("0 0 1 * 5", "2026-11-20T00:00:00Z"),
            ("5-59/20 8 * * *", "2026-11-18T08:05:00Z"),
        ] {
            assert_eq!(after(from, schedule).as_deref(), Some(wanted), "{schedule}");
        }
        for strange in ["", "* * * *", "61 * * * *", "*/0 * * * *", "a b c d e", "0 0 31 2 *", "5-1 * * * *"]
        {
            assert_eq!(after(from, strange), None, "{strange}");
        }
    }
}
